import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import {
  type JobAnswer,
  listJobsDoc,
  listQueuesDoc,
  listWorkersDoc,
  type QueueAnswer,
  type WorkerAnswer,
} from './catalogue-schema.ts'
import type { Endpoints } from './endpoints.ts'
import { readJobs } from './read-jobs.ts'

/** `/jobs`, `/queues` and `/workers`: what there is beside runs. */
export function addCatalogueRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  const { redis, prefix, snapshots } = deps

  endpoints.add('/jobs', {
    get: {
      role: 'viewer',
      doc: listJobsDoc,
      handle: async (_req, res) => {
        res.json(wholeList<JobAnswer>(await askRedis(() => readJobs(redis, prefix))))
      },
    },
  })
  endpoints.add('/queues', {
    get: {
      role: 'viewer',
      doc: listQueuesDoc,
      handle: async (_req, res) => {
        res.json(wholeList<QueueAnswer>((await askRedis(() => snapshots.take())).queues))
      },
    },
  })
  endpoints.add('/workers', {
    get: {
      role: 'viewer',
      doc: listWorkersDoc,
      handle: async (_req, res) => {
        res.json(wholeList<WorkerAnswer>((await askRedis(() => snapshots.take())).workers))
      },
    },
  })
}

function wholeList<T>(items: readonly T[]): { items: readonly T[]; nextCursor: null } {
  return { items, nextCursor: null }
}
