import { randomUUID } from 'node:crypto'
import {
  countDeadLetters,
  countRedriven,
  type DeadLetterFilters,
  findRedrive,
  insertRedrive,
  listRedrives,
  noteLetters,
  type RedriveChange,
  type RedriveRow,
  tellingRedriveState,
} from '@jadwal/db'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory, askHistoryIfThere } from './ask.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import { redriveLettersDoc } from './dead-letter-docs.ts'
import { readRedriveRequest } from './dead-letter-request.ts'
import type { Endpoints } from './endpoints.ts'
import { jsonBody } from './json-body.ts'
import { pathUuid } from './path-uuid.ts'
import { Problem } from './problem.ts'
import { changeRedriveDoc, listRedrivesDoc, readRedriveDoc } from './redrive-schema.ts'
import { redriveView } from './redrive-view.ts'
import { readPageQuery } from './run-query.ts'
import { redriveById } from './settle-by-id.ts'

/** Letters, and runs by state, that are counted for one answer. */
const MOST_COUNTED = 100_000

/** `/dead-letters/redrive` and `/redrives`: a few letters at once, many by the leader. */
export function addRedriveRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/dead-letters/redrive', {
    post: {
      role: 'operator',
      doc: redriveLettersDoc,
      handle: [...jsonBody('128kb'), redriveHandler(deps)],
    },
  })
  endpoints.add('/redrives', {
    get: { role: 'viewer', doc: listRedrivesDoc, handle: listHandler(deps) },
  })
  endpoints.add('/redrives/:id', {
    get: { role: 'viewer', doc: readRedriveDoc, handle: readHandler(deps) },
  })
  const change = (act: 'pause' | 'resume' | 'cancel', handler: RequestHandler): void =>
    endpoints.add(`/redrives/:id/${act}`, {
      post: { role: 'operator', doc: changeRedriveDoc(act), handle: handler },
    })
  change('pause', changeHandler(deps, { from: ['running'], to: 'paused' }))
  change('resume', changeHandler(deps, { from: ['paused'], to: 'running' }))
  change('cancel', changeHandler(deps, { from: ['running', 'paused'], to: 'cancelled' }))
}

function redriveHandler(deps: ApiDeps): RequestHandler {
  const { db, clock } = deps
  return async (req, res) => {
    const { which, rate, canary } = readRedriveRequest(req.body)
    if ('ids' in which && rate === undefined && !canary) {
      const { items, before } = await redriveById(deps, which.ids, callerOf(res).name)
      noteChange(res, { before: { items: before }, after: { items } })
      res.json({ items, nextCursor: null })
      return
    }
    const now = clock.now()
    const filters: DeadLetterFilters = 'ids' in which ? { ids: which.ids } : which.filters
    const { to = now } = filters
    const bounded = { ...filters, to: to < now ? to : now }
    const id = randomUUID()
    await askHistory(() =>
      insertRedrive(db, {
        id,
        state: 'running',
        filter: JSON.stringify(filters),
        rate: rate ?? null,
        canary,
        letters: null,
        author: callerOf(res).name,
        created_at: now,
      }),
    )
    const letters = await countLetters(db, id, bounded)
    noteChange(res, { subject: `redrives/${id}`, after: { id, letters } })
    res.status(202).location(`/api/v1/redrives/${id}`).json({ id, letters })
  }
}

/** Best effort: null when there are too many, or Postgres takes too long, since the redrive goes on anyway. */
async function countLetters(
  db: ApiDeps['db'],
  id: string,
  filters: DeadLetterFilters,
): Promise<number | null> {
  const counted = await askHistoryIfThere(async () => {
    const letters = await countDeadLetters(db, filters, MOST_COUNTED)
    if (letters !== undefined) await noteLetters(db, id, letters)
    return letters
  })
  return counted ?? null
}

function listHandler({ db }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const page = readPageQuery(req.query)
    const { items, nextCursor } = await askHistory(() => listRedrives(db, page))
    res.json({ items: items.map((item) => redriveView(item)), nextCursor })
  }
}

function readHandler({ db }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const view = await askHistory(async () => {
      const redrive = await requireRedrive(db, req.params['id'])
      return redriveView(redrive, await countRedriven(db, redrive.id, MOST_COUNTED))
    })
    res.json(view)
  }
}

type Change = Pick<RedriveChange, 'from' | 'to'>

/** Asking for what is so already changes nothing and is no error. */
function changeHandler({ db, clock }: ApiDeps, change: Change): RequestHandler {
  return async (req, res) => {
    const id = readId(req.params['id'])
    const told = await askHistory(() => tellingRedriveState(db, id, { ...change, at: clock.now() }))
    if (!told) throw noRedrive()
    const { isChanged, before, after } = told
    if (!isChanged && after.state !== change.to)
      throw new Problem('redrive-ended', {
        detail: `This redrive is ${after.state}: only one that is ${change.from.join(' or ')} can become ${change.to}.`,
      })
    noteChange(res, { before: { state: before }, after: { state: after.state } })
    res.json(redriveView(after))
  }
}

async function requireRedrive(db: ApiDeps['db'], given: unknown): Promise<RedriveRow> {
  const redrive = await findRedrive(db, readId(given))
  if (!redrive) throw noRedrive()
  return redrive
}

/** Throws a `Problem` for what can be no id. */
function readId(given: unknown): string {
  const id = pathUuid(given)
  if (id === undefined) throw noRedrive()
  return id
}

function noRedrive(): Problem {
  return new Problem('not-found', { detail: 'There is no redrive with this id.' })
}
