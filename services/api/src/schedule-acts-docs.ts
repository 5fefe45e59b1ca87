import { z } from 'zod'
import { At, listAnswer, pageOf, ScheduleParams } from './answer-parts.ts'
import { ETAG, IfMatch } from './etag-docs.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'
import { PauseBody, ResumeBody } from './pause-request.ts'
import { RollbackBody } from './rollback-request.ts'
import { PageQuery } from './run-query.ts'
import {
  FieldChangeSchema,
  PAUSE_EXAMPLE,
  PauseSchema,
  SCHEDULE_EXAMPLE,
  ScheduleSchema,
  WRITTEN_EXAMPLE,
} from './schedule-schema.ts'
import { TriggerRequest } from './trigger-request.ts'

const SCHEDULE = {
  200: {
    description: 'The schedule, as it is then.',
    schema: ScheduleSchema,
    example: SCHEDULE_EXAMPLE,
    headers: ETAG,
  },
}

export const triggerDoc: OperationDoc = {
  id: 'triggerSchedule',
  summary: 'Give a schedule a run by hand',
  description: 'The run belongs to no tick. Also of a schedule that is paused.',
  params: ScheduleParams,
  body: { schema: TriggerRequest, example: { overlap: 'allow' }, isOptional: true },
  answers: {
    202: {
      description: 'The run is in its queue.',
      schema: z.strictObject({ id: z.uuid(), state: z.literal('queued') }),
      example: { id: EXAMPLE.run, state: 'queued' },
      headers: { Location: 'Where the run is.' },
    },
  },
  problems: ['overlap', 'shadow', 'unknown-job', 'invalid-payload'],
}

export const pauseScheduleDoc: OperationDoc = {
  id: 'pauseSchedule',
  summary: 'Let a schedule rest',
  description: 'Its ticks get no run, from two seconds after the answer at the latest.',
  params: ScheduleParams,
  headers: IfMatch,
  body: {
    schema: PauseBody,
    example: { reason: 'the mail provider is moving', until: '2030-01-01T00:00:00Z' },
    isOptional: true,
  },
  answers: {
    200: { ...SCHEDULE[200], example: { ...SCHEDULE_EXAMPLE, pause: PAUSE_EXAMPLE } },
  },
  problems: ['precondition-failed'],
}

export const resumeScheduleDoc: OperationDoc = {
  id: 'resumeSchedule',
  summary: 'Let a schedule fire again',
  params: ScheduleParams,
  headers: IfMatch,
  body: { schema: ResumeBody, example: {}, isOptional: true },
  answers: SCHEDULE,
  problems: ['precondition-failed', 'paused-by-spec'],
}

const EVERYTHING = {
  200: {
    description: 'The pause of everything; null when there is none.',
    schema: z.strictObject({ pause: PauseSchema.nullable() }),
    example: { pause: { ...PAUSE_EXAMPLE, everything: true } },
  },
}

export const readPauseDoc: OperationDoc = {
  id: 'getPause',
  summary: 'Whether everything rests',
  answers: EVERYTHING,
}

export const pauseAllDoc: OperationDoc = {
  id: 'pauseEverything',
  summary: 'Let every schedule rest',
  body: { schema: PauseBody, example: { reason: 'the database is moving' }, isOptional: true },
  answers: EVERYTHING,
}

export const resumeAllDoc: OperationDoc = {
  id: 'resumeEverything',
  summary: 'End the pause of everything',
  body: { schema: ResumeBody, example: {}, isOptional: true },
  answers: {
    200: { ...EVERYTHING[200], example: { pause: null } },
  },
}

const VersionSchema = z
  .strictObject({
    version: z.int(),
    author: z.string(),
    at: At.describe('When it began.'),
    until: At.nullable().describe('When it ended; null for the one in force.'),
    reason: z.string().optional(),
    deleted: z
      .strictObject({ author: z.string().nullable(), reason: z.string().nullable() })
      .optional(),
    spec: z.record(z.string(), z.unknown()).describe('As it was written.'),
    diff: z.array(FieldChangeSchema).optional().describe('What differs from the one before.'),
  })
  .meta({ id: 'Version', description: 'One form of a schedule, and the time it ruled.' })
export type VersionAnswer = z.infer<typeof VersionSchema>

const VERSION_EXAMPLE: VersionAnswer = {
  version: 2,
  author: 'admin',
  at: EXAMPLE.at,
  until: null,
  reason: 'earlier, for Jakarta',
  spec: WRITTEN_EXAMPLE,
  diff: [{ field: 'timezone', after: 'Asia/Jakarta' }],
}

export const listVersionsDoc: OperationDoc = {
  id: 'listVersions',
  summary: 'Who changed a schedule, when and how',
  description: 'The latest first. Also of a schedule that is deleted.',
  params: ScheduleParams,
  query: PageQuery,
  answers: listAnswer(pageOf(VersionSchema), VERSION_EXAMPLE),
}

export const rollbackDoc: OperationDoc = {
  id: 'rollBackSchedule',
  summary: 'Make a schedule say again what it said',
  description: 'As a new version, and with the calendars as they are now.',
  params: ScheduleParams,
  headers: IfMatch,
  body: { schema: RollbackBody, example: { version: 1, reason: 'the earlier time was right' } },
  answers: SCHEDULE,
  problems: ['precondition-failed', 'of-the-file', 'unknown-job', 'invalid-payload'],
}
