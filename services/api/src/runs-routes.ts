import { isEnded } from '@jadwal/domain'
import { cancelRun } from '@jadwal/queue'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import { noteChange } from './audit.ts'
import type { Endpoints } from './endpoints.ts'
import { addEnqueueBatchRoute, enqueueHandlers } from './enqueue-routes.ts'
import { listRunsWithLiving } from './list-runs-with-living.ts'
import { Problem } from './problem.ts'
import { requireRun } from './require-run.ts'
import { readRunQuery } from './run-query.ts'
import type { RunAnswer } from './run-schema.ts'
import { cancelRunDoc, enqueueRunDoc, listRunsDoc, readRunDoc } from './runs-docs.ts'

/** `/runs`: enqueue, search and look at runs. */
export function addRunsRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/runs', {
    get: { role: 'viewer', doc: listRunsDoc, handle: listHandler(deps) },
    post: { role: 'operator', audit: false, doc: enqueueRunDoc, handle: enqueueHandlers(deps) },
  })
  addEnqueueBatchRoute(endpoints, deps)
  endpoints.add('/runs/:id', {
    get: { role: 'viewer', doc: readRunDoc, handle: readHandler(deps) },
  })
  endpoints.add('/runs/:id/cancel', {
    post: { role: 'operator', doc: cancelRunDoc, handle: cancelHandler(deps) },
  })
}

function listHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const { filters, page } = readRunQuery(req.query)
    const { items: views, ...rest } = await listRunsWithLiving(deps, filters, page)
    const items: RunAnswer[] = await deps.shownRuns.forCaller(res, views)
    res.json({ items, ...rest })
  }
}

function readHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const view = await requireRun(deps, req.params['id'])
    res.json((await deps.shownRuns.oneForCaller(res, view)) satisfies RunAnswer)
  }
}

/** A run that waits has ended with the answer; one that runs is told to, and its worker ends it. */
function cancelHandler(deps: ApiDeps): RequestHandler {
  const { redis, prefix, clock } = deps
  return async (req, res) => {
    const { id, queue, state } = await requireRun(deps, req.params['id'])
    if (isEnded(state)) throw ended(`The run has ended before: it is ${state}.`)
    const nowIso = clock.now().toISOString()
    const { result, before } = await askRedis(() =>
      cancelRun({ redis, prefix, nowIso }, { queue, id }, 'cancelled'),
    )
    if (result === 'gone') throw ended('The run has just ended.')
    noteChange(res, { before: { state: before }, after: { state: result } })
    res.status(202).location(`/api/v1/runs/${id}`).json({ id, state: result })
  }
}

function ended(detail: string): Problem {
  return new Problem('run-ended', { detail })
}
