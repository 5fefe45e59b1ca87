import { listCurrentPauses, pauseSchedules, type PauseSubject, resumeSchedules } from '@jadwal/db'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import { makeChange } from './change-schedules.ts'
import { readExpected, tagSchedule } from './etag.ts'
import type { Endpoints } from './endpoints.ts'
import { optionalJsonBody } from './json-body.ts'
import { PauseBody, ResumeBody } from './pause-request.ts'
import { fieldProblem, Problem } from './problem.ts'
import {
  pauseAllDoc,
  pauseScheduleDoc,
  readPauseDoc,
  resumeAllDoc,
  resumeScheduleDoc,
} from './schedule-acts-docs.ts'
import type { PauseAnswer } from './schedule-schema.ts'
import { pauseView } from './schedule-view.ts'
import { noSchedule, requireSchedule, viewSchedule } from './schedules-routes.ts'
import { parseRequest } from './zod-problem.ts'

const LARGEST_BODY = '64kb'

/** `…/pause` and `…/resume` of one schedule, and of everything. */
export function addPausesRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  const body = optionalJsonBody(LARGEST_BODY)
  endpoints.add('/schedules/:name/pause', {
    post: { role: 'operator', doc: pauseScheduleDoc, handle: [...body, pauseOneHandler(deps)] },
  })
  endpoints.add('/schedules/:name/resume', {
    post: { role: 'operator', doc: resumeScheduleDoc, handle: [...body, resumeOneHandler(deps)] },
  })
  endpoints.add('/pause', {
    get: {
      role: 'viewer',
      doc: readPauseDoc,
      handle: async (_req, res) => void res.json(await pauseOfEverything(deps)),
    },
    post: { role: 'operator', doc: pauseAllDoc, handle: [...body, pauseAllHandler(deps)] },
  })
  endpoints.add('/resume', {
    post: { role: 'operator', doc: resumeAllDoc, handle: [...body, resumeAllHandler(deps)] },
  })
}

function pauseOneHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const { id, name } = await requireSchedule(deps, req.params['name'])
    const before = await pausesOf(deps, [id])
    await pause(
      deps,
      { schedule: name, ...readExpected(req) },
      { author: callerOf(res).name, body: req.body },
    )
    noteChange(res, { before, after: await pausesOf(deps, [id]) })
    await tagSchedule(deps, req, res)
    res.json(await viewSchedule(deps, await requireSchedule(deps, name)))
  }
}

function resumeOneHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    parseRequest(ResumeBody, req.body ?? {}, 'body')
    const { id, name, spec } = await requireSchedule(deps, req.params['name'])
    const before = await pausesOf(deps, [id])
    const outcome = await makeChange(deps, () =>
      resumeSchedules(deps.db, { schedule: name, ...readExpected(req) }, callerOf(res).name),
    )
    if (outcome === 'not-found') throw noSchedule(name)
    noteChange(res, { before, after: await pausesOf(deps, [id]) })
    // What its author wrote can't be undone here, and it must not look as if it were.
    if (spec['paused'] === true) throw pausedBySpec(name)
    await tagSchedule(deps, req, res)
    res.json(await viewSchedule(deps, await requireSchedule(deps, name)))
  }
}

function pauseAllHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const before = await pauseOfEverything(deps)
    await pause(deps, 'everything', { author: callerOf(res).name, body: req.body })
    const after = await pauseOfEverything(deps)
    noteChange(res, { before, after })
    res.json(after)
  }
}

function resumeAllHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    parseRequest(ResumeBody, req.body ?? {}, 'body')
    const before = await pauseOfEverything(deps)
    await makeChange(deps, () => resumeSchedules(deps.db, 'everything', callerOf(res).name))
    const after = await pauseOfEverything(deps)
    noteChange(res, { before, after })
    res.json(after)
  }
}

async function pause(
  deps: ApiDeps,
  subject: PauseSubject,
  { author, body }: { author: string; body: unknown },
): Promise<void> {
  const { reason = null, until = null } = parseRequest(PauseBody, body ?? {}, 'body')
  if (until !== null && until.getTime() <= deps.clock.now().getTime())
    throw fieldProblem('bad-request', 'until', 'must be in the future')
  const outcome = await makeChange(deps, () =>
    pauseSchedules(deps.db, subject, { author, reason, until }),
  )
  if (outcome === 'not-found' && subject !== 'everything') throw noSchedule(subject.schedule)
}

/** `{ pause: null }` when there is none. */
async function pauseOfEverything({ db }: ApiDeps): Promise<{ pause: PauseAnswer | null }> {
  const [current] = (await askHistory(() => listCurrentPauses(db, []))).slice(-1)
  return { pause: current ? pauseView(current) : null }
}

/** The pauses that are on of these schedules, and of everything. */
async function pausesOf({ db }: ApiDeps, ids: readonly string[]): Promise<object> {
  const pauses = await askHistory(() => listCurrentPauses(db, ids))
  return { pauses: pauses.map(pauseView) }
}

function pausedBySpec(name: string): Problem {
  return new Problem('paused-by-spec', {
    detail: `The schedule "${name}" itself says "paused: true": change that field to let it fire.`,
  })
}
