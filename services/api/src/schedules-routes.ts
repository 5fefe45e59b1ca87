import { findSchedule, listSchedules, type ScheduleInForce } from '@jadwal/db'
import { readSchedule, ScheduleName, type ScheduleSpec } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import { changeSchedule } from './change-schedules.ts'
import { readExpected, sendTag, tagSchedule } from './etag.ts'
import type { Endpoints } from './endpoints.ts'
import { jsonBody } from './json-body.ts'
import { Problem } from './problem.ts'
import { ScheduleJobs } from './schedule-jobs.ts'
import { scheduleProblem } from './schedule-problems.ts'
import { readReason, readScheduleQuery } from './schedule-query.ts'
import { pauseView, scheduleViews } from './schedule-view.ts'
import { warningsOn } from './schedule-warnings.ts'
import {
  deleteScheduleDoc,
  listSchedulesDoc,
  putScheduleDoc,
  readScheduleDoc,
} from './schedules-docs.ts'
import { parseRequest } from './zod-problem.ts'

/** Of one schedule or calendar. */
export const LARGEST_SPEC = '1mb'

/** `/schedules`: what there is, and one of them read, written and deleted. */
export function addSchedulesRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/schedules', {
    get: { role: 'viewer', doc: listSchedulesDoc, handle: listHandler(deps) },
  })
  endpoints.add('/schedules/:name', {
    get: { role: 'viewer', doc: readScheduleDoc, handle: readHandler(deps) },
    put: {
      role: 'operator',
      doc: putScheduleDoc,
      handle: [...jsonBody(LARGEST_SPEC), putHandler(deps)],
    },
    delete: { role: 'operator', doc: deleteScheduleDoc, handle: deleteHandler(deps) },
  })
}

function listHandler({ db, clock }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const { filters, page } = readScheduleQuery(req.query)
    const nowMs = clock.now().getTime()
    const answer = await askHistory(async () => {
      const { items, nextCursor } = await listSchedules(db, page, filters)
      return { items: await scheduleViews(db, items, nowMs), nextCursor }
    })
    res.json(answer)
  }
}

function readHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    if (await tagSchedule(deps, req, res)) return
    const schedule = await requireSchedule(deps, req.params['name'])
    const view = await viewSchedule(deps, schedule)
    const warnings = await askHistory(() => warningsOn(deps.db, schedule))
    res.json({ ...view, warnings })
  }
}

/** Creates or replaces. The same again makes no version. */
function putHandler(deps: ApiDeps): RequestHandler {
  const jobs = new ScheduleJobs(deps)
  return async (req, res) => {
    const name = parseRequest(ScheduleName, req.params['name'], 'name')
    const precondition = { schedule: name, ...readExpected(req) }
    const reason = readReason(req.query)
    const input = req.body as Record<string, unknown>
    const spec = readBody(name, input)
    const warnings = await jobs.check([{ name, spec }], `schedules.${name}.`)
    const { before, after } = await changeSchedule(deps, name, {
      schedules: [{ name, input }],
      author: callerOf(res).name,
      ...reason,
      precondition,
    })
    if (!after) throw noSchedule(name)
    noteChange(res, { before: before?.schedule.spec ?? null, after: after.schedule.spec })
    sendTag(res, after.tag)
    const view = await viewSchedule(deps, after.schedule)
    res.status(before ? 200 : 201).json({ ...view, warnings })
  }
}

function readBody(name: string, input: unknown): ScheduleSpec {
  const base = ['schedules', name]
  const read = readSchedule(input, base)
  if (read.ok) return read.spec
  throw scheduleProblem(
    'bad-request',
    read.problems.map((problem) => problem.within(base.join('.'))),
  )
}

function deleteHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const reason = readReason(req.query)
    const { name } = await requireSchedule(deps, req.params['name'])
    const { before } = await changeSchedule(deps, name, {
      schedules: [],
      remove: { schedules: [name] },
      author: callerOf(res).name,
      ...reason,
      precondition: { schedule: name, ...readExpected(req) },
    })
    // Somebody else was faster.
    if (!before) throw noSchedule(name)
    const { schedule, pause } = before
    // Its pause ends with it. First, since of what is long only the beginning is kept.
    const paused = pause ? { pause: pauseView(pause) } : {}
    noteChange(res, { before: { ...paused, ...schedule.spec }, after: null })
    res.status(204).end()
  }
}

/** Throws a `Problem` when there is no such schedule. */
export async function requireSchedule({ db }: ApiDeps, given: unknown): Promise<ScheduleInForce> {
  const known = ScheduleName.safeParse(given)
  const schedule = known.success ? await askHistory(() => findSchedule(db, known.data)) : undefined
  if (!schedule) throw noSchedule(given)
  return schedule
}

export function noSchedule(name: unknown): Problem {
  return new Problem('not-found', { detail: `There is no schedule "${String(name)}".` })
}

export async function viewSchedule(
  { db, clock }: ApiDeps,
  schedule: ScheduleInForce,
): Promise<Record<string, unknown> | undefined> {
  const nowMs = clock.now().getTime()
  const [view] = await askHistory(() => scheduleViews(db, [schedule], nowMs))
  return view
}
