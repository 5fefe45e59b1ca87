import { type CalendarRow, findCalendar, listCalendars } from '@jadwal/db'
import { CalendarName, readCalendar } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import {
  type CalendarAnswer,
  deleteCalendarDoc,
  listCalendarsDoc,
  putCalendarDoc,
  readCalendarDoc,
} from './calendars-schema.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import { changeCalendar } from './change-schedules.ts'
import { readExpected, sendTag, tagCalendar } from './etag.ts'
import type { Endpoints } from './endpoints.ts'
import { jsonBody } from './json-body.ts'
import { Problem } from './problem.ts'
import { readPageQuery } from './run-query.ts'
import { scheduleProblem } from './schedule-problems.ts'
import { readReason } from './schedule-query.ts'
import { LARGEST_SPEC } from './schedules-routes.ts'
import { parseRequest } from './zod-problem.ts'

/** `/calendars`: named lists of dates and spans that schedules skip or keep to. */
export function addCalendarsRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/calendars', {
    get: { role: 'viewer', doc: listCalendarsDoc, handle: listHandler(deps) },
  })
  endpoints.add('/calendars/:name', {
    get: {
      role: 'viewer',
      doc: readCalendarDoc,
      handle: async (req, res) => {
        if (await tagCalendar(deps, req, res)) return
        res.json(await viewCalendar(deps, req.params['name']))
      },
    },
    put: {
      role: 'operator',
      doc: putCalendarDoc,
      handle: [...jsonBody(LARGEST_SPEC), putHandler(deps)],
    },
    delete: { role: 'operator', doc: deleteCalendarDoc, handle: deleteHandler(deps) },
  })
}

function listHandler({ db }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const page = readPageQuery(req.query)
    const { items, nextCursor } = await askHistory(() => listCalendars(db, page))
    res.json({ items: items.map(calendarView), nextCursor })
  }
}

/** Creates or replaces; every schedule that names it gets a version. */
function putHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const name = parseRequest(CalendarName, req.params['name'], 'name')
    const reason = readReason(req.query)
    const base = ['calendars', name]
    const read = readCalendar(req.body, base)
    if (!read.ok) {
      const problems = read.problems.map((problem) => problem.within(base.join('.')))
      throw scheduleProblem('bad-request', problems)
    }
    const { before, after, outcome } = await changeCalendar(deps, name, {
      schedules: [],
      calendars: [{ name, input: req.body as Record<string, unknown> }],
      author: callerOf(res).name,
      ...reason,
      precondition: { calendar: name, ...readExpected(req) },
    })
    if (!after) throw noCalendar(name)
    const changedSchedules = outcome.changed
    noteChange(res, {
      before: before?.calendar.spec ?? null,
      after: { ...after.calendar.spec, ...(changedSchedules.length > 0 && { changedSchedules }) },
    })
    sendTag(res, after.tag)
    res.status(before ? 200 : 201).json({ ...calendarView(after.calendar), changedSchedules })
  }
}

function deleteHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const reason = readReason(req.query)
    const { name } = await requireCalendar(deps, req.params['name'])
    const { before } = await changeCalendar(deps, name, {
      schedules: [],
      remove: { calendars: [name] },
      author: callerOf(res).name,
      ...reason,
      precondition: { calendar: name, ...readExpected(req) },
    }).catch((error: unknown) => {
      throw error instanceof Problem && error.kind === 'bad-request' ? inUse(error) : error
    })
    // Somebody else was faster.
    if (!before) throw noCalendar(name)
    noteChange(res, { before: before.calendar.spec, after: null })
    res.status(204).end()
  }
}

function inUse({ message, errors = [] }: Problem): Problem {
  return new Problem('calendar-in-use', { detail: message, errors })
}

async function requireCalendar({ db }: ApiDeps, given: unknown): Promise<CalendarRow> {
  const known = CalendarName.safeParse(given)
  const calendar = known.success ? await askHistory(() => findCalendar(db, known.data)) : undefined
  if (calendar) return calendar
  throw noCalendar(given)
}

function noCalendar(name: unknown): Problem {
  return new Problem('not-found', { detail: `There is no calendar "${String(name)}".` })
}

async function viewCalendar(deps: ApiDeps, name: unknown): Promise<CalendarAnswer> {
  return calendarView(await requireCalendar(deps, name))
}

function calendarView(calendar: CalendarRow): CalendarAnswer {
  const { name, spec, source, author, changed_at: changedAt } = calendar
  return { name, ...spec, source, author, changedAt: changedAt.toISOString() }
}
