import { ScheduleSpec } from '@jadwal/domain'
import { z } from 'zod'
import { At } from './answer-parts.ts'
import { EXAMPLE } from './examples.ts'

/** The rule of a schedule as its author writes it. */
export const WrittenSchedule = ScheduleSpec.meta({
  id: 'WrittenSchedule',
  description:
    'The rule of a schedule, as written: just one of `cron` and `every`, and durations such as 30s, 10m or 6h.',
})

export const PauseSchema = z
  .strictObject({
    since: At,
    until: At.optional().describe('Absent: until somebody resumes.'),
    reason: z.string().optional(),
    author: z.string(),
    everything: z.literal(true).optional().describe('It is of every schedule.'),
  })
  .meta({ id: 'Pause' })
export type PauseAnswer = z.infer<typeof PauseSchema>

/** A schedule as the api shows it: what was written, and what is known of it. */
export const ScheduleSchema = z
  .looseObject({
    id: z.uuid(),
    name: z.string(),
    job: z.string(),
    version: z.int().describe('Of the version in force.'),
    source: z.enum(['file', 'api']),
    author: z.string().describe('Who wrote the version in force.'),
    createdAt: At,
    changedAt: At,
    pause: PauseSchema.optional().describe('The pause that is on.'),
    nextTick: At.nullable().describe('Null for one that is paused or over.'),
  })
  .meta({
    id: 'Schedule',
    description: 'The rule that says when a job gets a run: the fields as written, and these.',
  })

export const WarningSchema = z
  .strictObject({
    kind: z.literal('duration-near-interval'),
    schedule: z.string(),
    message: z.string(),
    p95Ms: z.number(),
    intervalMs: z.number(),
    runs: z.int(),
  })
  .meta({ id: 'ScheduleWarning', description: 'What somebody should look at.' })

export const PlainPayloadSchema = z
  .strictObject({ kind: z.literal('plain-payload'), schedule: z.string(), message: z.string() })
  .meta({
    id: 'PlainPayloadWarning',
    description: 'The job encrypts payloads, and the schedule keeps one in clear text.',
  })

export const FieldChangeSchema = z
  .strictObject({
    field: z.string().describe('A dotted path, such as misfire.policy.'),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
  })
  .meta({ id: 'FieldChange' })

export const WRITTEN_EXAMPLE = {
  job: 'email.send',
  cron: '0 6 * * *',
  timezone: 'Asia/Jakarta',
  payload: { to: 'ana@example.com', template: 'welcome' },
} satisfies z.input<typeof WrittenSchedule>

export const SCHEDULE_EXAMPLE = {
  id: EXAMPLE.scheduleId,
  name: EXAMPLE.schedule,
  ...WRITTEN_EXAMPLE,
  version: 3,
  source: 'api',
  author: 'admin',
  createdAt: EXAMPLE.at,
  changedAt: EXAMPLE.later,
  nextTick: '2026-11-30T23:00:00.000Z',
} satisfies z.infer<typeof ScheduleSchema>

export const PAUSE_EXAMPLE: PauseAnswer = {
  since: EXAMPLE.at,
  until: EXAMPLE.nextDay,
  reason: 'the mail provider is moving',
  author: 'admin',
}
