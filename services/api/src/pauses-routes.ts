import {
  listCurrentPauses,
  type PauseOutcome,
  pauseSchedules,
  resumeSchedules,
  type SchedulePauseRow,
  type ScheduleState,
  tellingPause,
  tellingSchedule,
  type ToldChange,
} from '@jadwal/db'
import type { Request, RequestHandler, Response } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import { makeChange } from './change-schedules.ts'
import { readExpected, sendTag } from './etag.ts'
import type { Endpoints } from './endpoints.ts'
import { optionalJsonBody, SHORT_BODY } from './json-body.ts'
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

/** `…/pause` and `…/resume` of one schedule, and of everything. */
export function addPausesRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  const body = optionalJsonBody(SHORT_BODY)
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
    const { name } = await requireSchedule(deps, req.params['name'])
    const pause = readPause(deps, req, res)
    const subject = { schedule: name, ...readExpected(req) }
    const told = await makeChange(deps, () =>
      tellingSchedule(deps.db, name, (tx) => pauseSchedules(tx, subject, pause)),
    )
    await answerOne(deps, res, changed(res, name, told))
  }
}

function resumeOneHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    parseRequest(ResumeBody, req.body ?? {}, 'body')
    const { name } = await requireSchedule(deps, req.params['name'])
    const author = callerOf(res).name
    const subject = { schedule: name, ...readExpected(req) }
    const told = await makeChange(deps, () =>
      tellingSchedule(deps.db, name, (tx) => resumeSchedules(tx, subject, author)),
    )
    const after = changed(res, name, told)
    // What its author wrote can't be undone here, and it must not look as if it were.
    if (after.schedule.spec['paused'] === true) throw pausedBySpec(name)
    await answerOne(deps, res, after)
  }
}

type ToldOfOne = ToldChange<ScheduleState | undefined, PauseOutcome>

/** Notes what a change has made of the pause of a schedule, and gives what the schedule is now. */
function changed(res: Response, name: string, { outcome, before, after }: ToldOfOne) {
  if (outcome === 'not-found' || !before || !after) throw noSchedule(name)
  noteChange(res, { before: pauseAnswer(before.pause), after: pauseAnswer(after.pause) })
  return after
}

async function answerOne(
  deps: ApiDeps,
  res: Response,
  { schedule, tag }: ScheduleState,
): Promise<void> {
  sendTag(res, tag)
  res.json(await viewSchedule(deps, schedule))
}

function pauseAllHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const pause = readPause(deps, req, res)
    const told = await makeChange(deps, () =>
      tellingPause(deps.db, (tx) => pauseSchedules(tx, 'everything', pause)),
    )
    answerAll(res, told)
  }
}

function resumeAllHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    parseRequest(ResumeBody, req.body ?? {}, 'body')
    const author = callerOf(res).name
    const told = await makeChange(deps, () =>
      tellingPause(deps.db, (tx) => resumeSchedules(tx, 'everything', author)),
    )
    answerAll(res, told)
  }
}

function answerAll(
  res: Response,
  { before, after }: ToldChange<SchedulePauseRow | undefined, PauseOutcome>,
): void {
  const answer = pauseAnswer(after)
  noteChange(res, { before: pauseAnswer(before), after: answer })
  res.json(answer)
}

function readPause({ clock }: ApiDeps, req: Request, res: Response) {
  const { reason = null, until = null } = parseRequest(PauseBody, req.body ?? {}, 'body')
  if (until !== null && until.getTime() <= clock.now().getTime())
    throw fieldProblem('bad-request', 'until', 'must be in the future')
  return { author: callerOf(res).name, reason, until }
}

/** `{ pause: null }` when there is none. */
async function pauseOfEverything({ db }: ApiDeps): Promise<{ pause: PauseAnswer | null }> {
  return pauseAnswer((await askHistory(() => listCurrentPauses(db, []))).at(-1))
}

function pauseAnswer(pause: SchedulePauseRow | null | undefined): { pause: PauseAnswer | null } {
  return { pause: pause ? pauseView(pause) : null }
}

function pausedBySpec(name: string): Problem {
  return new Problem('paused-by-spec', {
    detail: `The schedule "${name}" itself says "paused: true": change that field to let it fire.`,
  })
}
