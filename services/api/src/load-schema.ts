import { z } from 'zod'
import { At } from './answer-parts.ts'
import { EXAMPLE } from './examples.ts'
import { LoadQuery } from './load-query.ts'
import type { OperationDoc } from './operation.ts'
import { WarningSchema } from './schedule-schema.ts'

const CadenceSchema = z
  .union([
    z.strictObject({
      cron: z.string(),
      timezone: z.string(),
      dst: z.strictObject({ gap: z.enum(['shift', 'skip']), fold: z.enum(['once', 'twice']) }),
    }),
    z.strictObject({ every: z.string(), offset: z.string().optional() }),
  ])
  .meta({ id: 'Cadence', description: 'As a schedule file writes it.' })
export type CadenceAnswer = z.infer<typeof CadenceSchema>

const Height = z.strictObject({
  second: z.int().describe('Ticks in the fullest second.'),
  bucket: z.int().describe('Ticks in the fullest bucket.'),
})

/** A load report as the api shows it. */
export const LoadSchema = z
  .strictObject({
    from: At,
    to: At,
    bucket: z.string().describe('How long a bucket is, such as 1m.'),
    schedules: z.int(),
    ticks: z.int(),
    buckets: z.array(z.strictObject({ at: At, ticks: z.int() })).describe('Those with ticks.'),
    peaks: z.array(
      z.strictObject({
        at: At,
        ticks: z.int(),
        schedules: z.int(),
        cadences: z.array(
          z.strictObject({
            cadence: CadenceSchema,
            ticks: z.int(),
            schedules: z.int(),
            names: z.array(z.string()).describe('A few of them.'),
          }),
        ),
      }),
    ),
    proposal: z
      .strictObject({
        peak: z.strictObject({ before: Height, after: Height }),
        changes: z.array(
          z.strictObject({
            cadence: CadenceSchema,
            jitter: z.string(),
            schedules: z.int(),
            names: z.array(z.string()),
          }),
        ),
      })
      .nullable()
      .describe('What to give jitter to, so that the peaks are lower; null when nothing helps.'),
    warnings: z.array(WarningSchema),
  })
  .meta({ id: 'LoadReport', description: 'What the schedules bring in a period.' })
export type LoadAnswer = z.infer<typeof LoadSchema>

const LOAD_EXAMPLE: LoadAnswer = {
  from: EXAMPLE.at,
  to: EXAMPLE.nextDay,
  bucket: '1m',
  schedules: 1,
  ticks: 1,
  buckets: [{ at: '2026-11-30T23:00:00.000Z', ticks: 1 }],
  peaks: [
    {
      at: '2026-11-30T23:00:00.000Z',
      ticks: 1,
      schedules: 1,
      cadences: [
        {
          cadence: {
            cron: '0 6 * * *',
            timezone: 'Asia/Jakarta',
            dst: { gap: 'shift', fold: 'once' },
          },
          ticks: 1,
          schedules: 1,
          names: [EXAMPLE.schedule],
        },
      ],
    },
  ],
  proposal: null,
  warnings: [],
}

export const loadDoc: OperationDoc = {
  id: 'getLoad',
  summary: 'How many ticks the coming day holds',
  description:
    'And how they could be spread. From `from`, or now, to `to`, or a day later; at most 7 days.',
  query: LoadQuery,
  answers: { 200: { description: 'The report.', schema: LoadSchema, example: LOAD_EXAMPLE } },
}
