import { CalendarSpec } from '@jadwal/domain'
import { z } from 'zod'
import { At, CalendarParams, listAnswer, pageOf } from './answer-parts.ts'
import { ETAG, IfMatch, IfNoneMatch, NOT_MODIFIED } from './etag-docs.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'
import { PageQuery } from './run-query.ts'
import { ChangeQuery } from './schedule-query.ts'

/** A calendar as its author writes it. */
const WrittenCalendar = CalendarSpec.meta({
  id: 'WrittenCalendar',
  description:
    'Dates such as 2026-12-25, or 12-25 for every year, and spans from a date or local time to another, both included.',
})

/** A calendar as the api shows it. */
const CalendarSchema = z
  .looseObject({
    name: z.string(),
    source: z.enum(['file', 'api']),
    author: z.string(),
    changedAt: At,
  })
  .meta({
    id: 'Calendar',
    description: 'A named list of dates and spans: the fields as written, and these.',
  })
export type CalendarAnswer = z.infer<typeof CalendarSchema>

const WRITTEN_EXAMPLE = { dates: ['01-01', '12-25'] } satisfies z.input<typeof WrittenCalendar>
const CALENDAR_EXAMPLE = {
  name: EXAMPLE.calendar,
  ...WRITTEN_EXAMPLE,
  source: 'api',
  author: 'admin',
  changedAt: EXAMPLE.at,
} satisfies CalendarAnswer

export const listCalendarsDoc: OperationDoc = {
  id: 'listCalendars',
  summary: 'Calendars, by name',
  query: PageQuery,
  answers: listAnswer(pageOf(CalendarSchema), CALENDAR_EXAMPLE),
}

export const readCalendarDoc: OperationDoc = {
  id: 'getCalendar',
  summary: 'Look at a calendar',
  params: CalendarParams,
  headers: IfNoneMatch,
  answers: {
    200: {
      description: 'The calendar.',
      schema: CalendarSchema,
      example: CALENDAR_EXAMPLE,
      headers: ETAG,
    },
    304: NOT_MODIFIED,
  },
}

const Changed = CalendarSchema.extend({
  changedSchedules: z.array(z.string()).describe('Those that name it, and got a version.'),
})

export const putCalendarDoc: OperationDoc = {
  id: 'putCalendar',
  summary: 'Create or replace a calendar',
  params: CalendarParams,
  query: ChangeQuery,
  headers: IfMatch,
  body: { schema: WrittenCalendar, example: WRITTEN_EXAMPLE },
  answers: {
    200: {
      description: 'It was there, and is as written now.',
      schema: Changed,
      example: { ...CALENDAR_EXAMPLE, changedSchedules: [EXAMPLE.schedule] },
      headers: ETAG,
    },
    201: {
      description: 'It was created.',
      schema: Changed,
      example: { ...CALENDAR_EXAMPLE, changedSchedules: [] },
      headers: ETAG,
    },
  },
  problems: ['precondition-failed', 'of-the-file'],
}

export const deleteCalendarDoc: OperationDoc = {
  id: 'deleteCalendar',
  summary: 'Delete a calendar',
  params: CalendarParams,
  query: ChangeQuery,
  headers: IfMatch,
  answers: { 204: { description: 'It is gone.' } },
  problems: ['precondition-failed', 'of-the-file', 'calendar-in-use'],
}
