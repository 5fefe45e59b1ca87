import { applyTellingVersions, planSchedules, type ScheduleChanges } from '@jadwal/db'
import type { Request, RequestHandler, Response } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import { makeChange } from './change-schedules.ts'
import type { Endpoints } from './endpoints.ts'
import { planView } from './plan-view.ts'
import { readFileBody, scheduleFileBody } from './schedule-file-body.ts'
import { applyDoc, planDoc } from './schedule-file-docs.ts'
import { FileQuery } from './schedule-file-query.ts'
import { ScheduleJobs } from './schedule-jobs.ts'
import { scheduleProblem } from './schedule-problems.ts'
import type { PlainPayloadWarning } from './schedule-warnings.ts'
import { parseRequest } from './zod-problem.ts'

/** `/schedules/plan` and `/apply`: what a whole schedule file would change, and changing it. */
export function addScheduleFileRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  const body = scheduleFileBody()
  endpoints.add('/schedules/plan', {
    post: { role: 'operator', audit: false, doc: planDoc, handle: [...body, planHandler(deps)] },
  })
  endpoints.add('/schedules/apply', {
    post: { role: 'operator', doc: applyDoc, handle: [...body, applyHandler(deps)] },
  })
}

function planHandler(deps: ApiDeps): RequestHandler {
  const { db, clock } = deps
  const read = changesReader(deps)
  return async (req, res) => {
    const { changes, warnings } = await read(req, res)
    const plan = await askHistory(() => planSchedules(db, changes))
    if (plan.problems.length > 0) throw scheduleProblem('bad-request', plan.problems)
    res.json({ ...(await planView(db, plan, clock.now().getTime())), warnings })
  }
}

function applyHandler(deps: ApiDeps): RequestHandler {
  const read = changesReader(deps)
  return async (req, res) => {
    const { changes, warnings } = await read(req, res)
    const { applied, versions } = await makeChange(deps, () =>
      applyTellingVersions(deps.db, changes),
    )
    const { before, after } = versions
    noteChange(res, { before: { versions: before }, after: { versions: after, ...applied } })
    res.json({ ...applied, warnings })
  }
}

/** Reads a file and checks all of it. A `prune` in the query goes before that of the file. */
function changesReader(
  deps: ApiDeps,
): (
  req: Request,
  res: Response,
) => Promise<{ changes: ScheduleChanges; warnings: PlainPayloadWarning[] }> {
  const jobs = new ScheduleJobs(deps)
  return async (req, res) => {
    const { prune, reason } = parseRequest(FileQuery, req.query, 'query')
    const file = await readFileBody(req.body, deps.clock)
    const warnings = await jobs.check(file.schedules)
    const changes: ScheduleChanges = {
      schedules: file.schedules,
      calendars: file.calendars,
      prune: prune === undefined ? file.prune : prune === 'true',
      source: 'file',
      author: callerOf(res).name,
      ...(reason === undefined ? {} : { reason }),
    }
    return { changes, warnings }
  }
}
