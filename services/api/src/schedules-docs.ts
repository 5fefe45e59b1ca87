import { z } from 'zod'
import { listAnswer, pageOf, ScheduleParams } from './answer-parts.ts'
import { ETAG, IfMatch, IfNoneMatch, NOT_MODIFIED } from './etag-docs.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'
import { ChangeQuery, ScheduleQuery } from './schedule-query.ts'
import {
  PlainPayloadSchema,
  SCHEDULE_EXAMPLE,
  ScheduleSchema,
  WarningSchema,
  WRITTEN_EXAMPLE,
  WrittenSchedule,
} from './schedule-schema.ts'

export const listSchedulesDoc: OperationDoc = {
  id: 'listSchedules',
  summary: 'Schedules, by name',
  query: ScheduleQuery,
  answers: listAnswer(pageOf(ScheduleSchema), SCHEDULE_EXAMPLE),
}

export const readScheduleDoc: OperationDoc = {
  id: 'getSchedule',
  summary: 'Look at a schedule',
  description:
    'Its `ETag` stands for the schedule and its own pause. `nextTick` and `warnings`, which change by themselves, are not in it.',
  params: ScheduleParams,
  headers: IfNoneMatch,
  answers: {
    200: {
      description: 'The schedule, with what somebody should look at.',
      schema: ScheduleSchema.extend({ warnings: z.array(WarningSchema) }),
      example: { ...SCHEDULE_EXAMPLE, warnings: [] },
      headers: ETAG,
    },
    304: NOT_MODIFIED,
  },
}

const Put = ScheduleSchema.extend({ warnings: z.array(PlainPayloadSchema) })

export const putScheduleDoc: OperationDoc = {
  id: 'putSchedule',
  summary: 'Create or replace a schedule',
  description:
    'The same again makes no version. Send the `ETag` that you read as `If-Match`, and nobody is overwritten; `If-None-Match: *` only creates.',
  params: ScheduleParams,
  headers: IfMatch,
  query: ChangeQuery,
  body: { schema: WrittenSchedule, example: WRITTEN_EXAMPLE },
  answers: {
    200: {
      description: 'It was there, and is as written now.',
      schema: Put,
      example: { ...SCHEDULE_EXAMPLE, warnings: [] },
      headers: ETAG,
    },
    201: {
      description: 'It was created.',
      schema: Put,
      example: { ...SCHEDULE_EXAMPLE, version: 1, warnings: [] },
      headers: ETAG,
    },
  },
  problems: ['precondition-failed', 'of-the-file', 'unknown-job', 'invalid-payload'],
}

export const deleteScheduleDoc: OperationDoc = {
  id: 'deleteSchedule',
  summary: 'Delete a schedule',
  description: `Its history stays, and so does its name: \`/schedules/${EXAMPLE.schedule}/versions\` still tells of it.`,
  params: ScheduleParams,
  query: ChangeQuery,
  headers: IfMatch,
  answers: { 204: { description: 'It is gone.' } },
  problems: ['precondition-failed', 'of-the-file'],
}
