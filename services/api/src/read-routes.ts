import type { Router } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import { endpoint } from './endpoint.ts'
import { readJobs } from './read-jobs.ts'

/** What there is to see beside runs: jobs, queues and workers. */
export function addReadRoutes(router: Router, deps: ApiDeps): void {
  const { redis, prefix, snapshots } = deps

  endpoint(router, '/jobs', {
    get: async (_req, res) => {
      res.json(wholeList(await askRedis(() => readJobs(redis, prefix))))
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
