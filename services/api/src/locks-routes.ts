import { SECOND } from '@jadwal/domain'
import { findLock, type HeldLock, type HeldLocks, listLocks, releaseLock } from '@jadwal/queue'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import { noteChange } from './audit.ts'
import type { Endpoints } from './endpoints.ts'
import { listLocksDoc, type LockAnswer, releaseLockDoc } from './locks-docs.ts'
import { Problem } from './problem.ts'
import { SharedLook } from './shared-look.ts'

/** To list what is held takes thousands of commands where much is: one list is for all who ask meanwhile. */
const FRESH_MS = 3 * SECOND

/** `/locks`: what is held by whom, and taking it from a holder that is frozen or gone. */
export function addLocksRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  const { redis, prefix, clock } = deps
  const locks = new SharedLook(() => listLocks(redis, prefix), FRESH_MS, clock)
  endpoints.add('/locks', {
    get: { role: 'viewer', doc: listLocksDoc, handle: listHandler(locks) },
  })
  endpoints.add('/locks/:id', {
    delete: {
      role: 'admin',
      doc: releaseLockDoc,
      audit: 'locks.release',
      handle: releaseHandler(deps, locks),
    },
  })
}

function listHandler(shared: SharedLook<HeldLocks>): RequestHandler {
  return async (_req, res) => {
    const { locks, truncated } = await askRedis(() => shared.recent())
    res.json({ items: locks satisfies LockAnswer[], nextCursor: null, truncated })
  }
}

function releaseHandler({ redis, prefix }: ApiDeps, shared: SharedLook<HeldLocks>): RequestHandler {
  return async (req, res) => {
    const id = String(req.params['id'])
    const lock = await askRedis(() => findLock(redis, prefix, id))
    if (!lock) throw notHeld(id)
    const release = await askRedis(() => releaseLock(redis, prefix, lock))
    if (release === 'gone') throw notHeld(id)
    if (release === 'in-use') throw inUse(lock)
    shared.forget()
    noteChange(res, { before: lock, after: null })
    res.status(204).end()
  }
}

function notHeld(id: string): Problem {
  return new Problem('not-found', { detail: `Nobody holds a lock "${id}".` })
}

function inUse({ kind, holder }: HeldLock): Problem {
  const why =
    kind === 'slot'
      ? `The run ${holder} lives and has this slot: two at once could run with one key if it was taken.`
      : `A worker has the attempt of run ${holder} in hand, or another takes it up within seconds: a lock that was taken would have it run twice at once.`
  return new Problem('lock-in-use', {
    detail: `${why} Cancel the run instead: POST /api/v1/runs/${holder}/cancel.`,
  })
}
