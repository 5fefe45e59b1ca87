import { planSchedules, type ScheduleChanges } from '@jadwal/db'
import type { RequestHandler, Router } from 'express'
import { z } from 'zod'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { AUTHOR, changeSchedules } from './change-schedules.ts'
import { endpoint } from './endpoint.ts'
import { planView } from './plan-view.ts'
import { readFileBody, scheduleFileBody } from './schedule-file-body.ts'
import { ScheduleJobs } from './schedule-jobs.ts'
import { scheduleProblem } from './schedule-problems.ts'
import { Reason } from './schedule-query.ts'
import { parseRequest } from './zod-problem.ts'

const FileQuery = z.strictObject({
  prune: z.enum(['true', 'false'], 'must be true or false').optional(),
  reason: Reason.optional(),
})

/** `/schedules/plan` and `/apply`: what a whole schedule file would change, and changing it. */
export function addScheduleFileRoutes(router: Router, deps: ApiDeps): void {
  const body = scheduleFileBody()
  endpoint(router, '/schedules/plan', { post: [...body, planHandler(deps)] })
  endpoint(router, '/schedules/apply', { post: [...body, applyHandler(deps)] })
}

function planHandler(deps: ApiDeps): RequestHandler {
  const { db, clock } = deps
  const read = changesReader(deps)
  return async (req, res) => {
    const changes = await read(req.query, req.body)
    const plan = await askHistory(() => planSchedules(db, changes))
    if (plan.problems.length > 0) throw scheduleProblem('bad-request', plan.problems)
    res.json(await planView(db, plan, clock.now().getTime()))
  }
}

function applyHandler(deps: ApiDeps): RequestHandler {
  const read = changesReader(deps)
  return async (req, res) => {
    res.json(await changeSchedules(deps, await read(req.query, req.body)))
  }
}

/** Reads a file and checks all of it. A `prune` in the query goes before that of the file. */
function changesReader(deps: ApiDeps): (query: unknown, body: unknown) => Promise<ScheduleChanges> {
  const jobs = new ScheduleJobs(deps)
  return async (query, body) => {
    const { prune, reason } = parseRequest(FileQuery, query, 'query')
    const file = await readFileBody(body, deps.clock)
    await jobs.check(file.schedules)
    return {
      schedules: file.schedules,
      calendars: file.calendars,
      prune: prune === undefined ? file.prune : prune === 'true',
      source: 'file',
      author: AUTHOR,
      ...(reason === undefined ? {} : { reason }),
    }
  }
}
