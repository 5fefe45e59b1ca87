import { z } from 'zod'
import { At } from './answer-parts.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'
import { YAML_TYPES } from './schedule-file-body.ts'
import { FileQuery } from './schedule-file-query.ts'
import { FieldChangeSchema, PlainPayloadSchema, WRITTEN_EXAMPLE } from './schedule-schema.ts'

/** A whole schedule file. `readScheduleFile` of the domain is what checks it. */
const FileSchema = z
  .looseObject({
    version: z.literal(1),
    prune: z.boolean().optional(),
    defaults: z.record(z.string(), z.unknown()).optional(),
    calendars: z.record(z.string(), z.looseObject({})).optional(),
    schedules: z.record(z.string(), z.looseObject({})),
  })
  .meta({ id: 'ScheduleFile', description: 'Schedules and calendars by name.' })
const FILE_EXAMPLE = { version: 1, schedules: { [EXAMPLE.schedule]: WRITTEN_EXAMPLE } }

const Outcomes = z
  .strictObject({
    added: z.array(z.string()),
    changed: z.array(z.string()),
    removed: z.array(z.string()),
    unchanged: z.array(z.string()),
    foreign: z.array(z.string()).describe('Belong to another source: left alone.'),
  })
  .meta({ id: 'Outcomes', description: 'Names, by what becomes of them.' })
const NONE = { added: [], changed: [], removed: [], unchanged: [], foreign: [] }

const PlannedTick = z.strictObject({ tickAt: At, skipped: z.string().optional() })
const Planned = z
  .strictObject({
    name: z.string(),
    diff: z.array(FieldChangeSchema).optional(),
    before: z.array(PlannedTick).optional().describe('Its next ticks, without the change.'),
    after: z.array(PlannedTick).optional().describe('Its next ticks, with the change.'),
  })
  .meta({ id: 'PlannedSchedule', description: 'What becomes of a schedule.' })
export const PlanSchema = z.strictObject({
  added: z.array(Planned),
  changed: z.array(Planned),
  removed: z.array(Planned),
  unchanged: z.array(z.string()),
  foreign: z.array(z.string()),
  calendars: Outcomes,
  warnings: z.array(PlainPayloadSchema),
})
export type PlanAnswer = Omit<z.infer<typeof PlanSchema>, 'warnings'>

const BODY = {
  schema: FileSchema,
  example: FILE_EXAMPLE,
  types: ['application/json', ...YAML_TYPES],
}

export const planDoc: OperationDoc = {
  id: 'planSchedules',
  summary: 'What a schedule file would change',
  description: 'Changes nothing. Of each schedule it tells the next ticks before and after.',
  query: FileQuery,
  body: BODY,
  answers: {
    200: {
      description: 'The plan.',
      schema: PlanSchema,
      example: {
        added: [{ name: EXAMPLE.schedule, after: [{ tickAt: '2026-11-30T23:00:00.000Z' }] }],
        changed: [],
        removed: [],
        unchanged: [],
        foreign: [],
        calendars: NONE,
        warnings: [],
      },
    },
  },
  problems: ['malformed-yaml', 'unknown-job', 'invalid-payload'],
}

export const applyDoc: OperationDoc = {
  id: 'applySchedules',
  summary: 'Make schedules be as a file says',
  description:
    'All of it or nothing. Schedules that another source made are left alone; with `prune`, those of earlier files that this one does not name are deleted.',
  query: FileQuery,
  body: BODY,
  answers: {
    200: {
      description: 'What became of each.',
      schema: Outcomes.extend({ calendars: Outcomes, warnings: z.array(PlainPayloadSchema) }),
      example: { ...NONE, added: [EXAMPLE.schedule], calendars: NONE, warnings: [] },
    },
  },
  problems: ['malformed-yaml', 'unknown-job', 'invalid-payload'],
}
