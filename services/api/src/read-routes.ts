import { listTerms } from '@jadwal/db'
import { readCatalogue, readLeader } from '@jadwal/queue'
import type { Router } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory, askRedis } from './ask.ts'
import { endpoint } from './endpoint.ts'
import { Problem } from './problem.ts'
import { readPageQuery } from './run-query.ts'

/** What there is to see beside runs: jobs, the leader, queues and workers. */
export function addReadRoutes(router: Router, deps: ApiDeps): void {
  const { redis, prefix, db, snapshots } = deps

  endpoint(router, '/jobs', {
    get: async (_req, res) => {
      res.json(wholeList(await askRedis(() => readCatalogue(redis, prefix))))
    },
  })
  endpoint(router, '/leader', {
    get: async (_req, res) => {
      const leader = await askRedis(() => readLeader(redis, prefix))
      if (!leader) throw new Problem('not-found', { detail: 'No scheduler leads right now.' })
      res.json({ instance: leader.instance, term: leader.term, since: leader.since })
    },
  })
  endpoint(router, '/leader/terms', {
    get: async (req, res) => {
      const page = readPageQuery(req.query)
      const { items, nextCursor } = await askHistory(() => listTerms(db, page))
      res.json({ items: items.map(termView), nextCursor })
    },
  })
  endpoint(router, '/queues', {
    get: async (_req, res) => {
      res.json(wholeList((await askRedis(() => snapshots.take())).queues))
    },
  })
  endpoint(router, '/workers', {
    get: async (_req, res) => {
      res.json(wholeList((await askRedis(() => snapshots.take())).workers))
    },
  })
}

function wholeList<T>(items: readonly T[]): { items: readonly T[]; nextCursor: null } {
  return { items, nextCursor: null }
}

type Term = Awaited<ReturnType<typeof listTerms>>['items'][number]

function termView(term: Term): Record<string, unknown> {
  return {
    term: term.term,
    instance: term.instance,
    from: term.from_at.toISOString(),
    until: term.until_at?.toISOString() ?? null,
    reason: term.reason,
  }
}
