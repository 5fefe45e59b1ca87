import { z } from 'zod'
import { At } from './answer-parts.ts'
import type { OperationDoc } from './operation.ts'
import { Instant } from './run-query.ts'

const DEFAULT_COUNT = 10
const COUNT_RULE = 'must be a whole number from 1 to 1000'

/** The body of `POST /cron/preview`. What a cadence means is for the rules of a schedule to say. */
export const PreviewRequest = z.strictObject({
  cron: z.unknown().optional(),
  every: z.unknown().optional(),
  offset: z.unknown().optional(),
  timezone: z.unknown().optional(),
  dst: z.unknown().optional(),
  from: Instant.optional(),
  count: z.int(COUNT_RULE).min(1, COUNT_RULE).max(1_000, COUNT_RULE).default(DEFAULT_COUNT),
})

export const previewDoc: OperationDoc = {
  id: 'previewCadence',
  summary: 'When a cadence ticks',
  description:
    'In words, and its first ticks from `from`, or now, on. The cadence is written as a schedule writes it.',
  body: {
    schema: PreviewRequest,
    example: {
      cron: '0 6 * * *',
      timezone: 'Asia/Jakarta',
      count: 1,
      from: '2026-11-30T06:00:00Z',
    },
  },
  answers: {
    200: {
      description: 'The cadence in words, and its ticks.',
      schema: z.strictObject({
        description: z.string(),
        ticks: z.array(At),
        local: z.array(z.string()).describe('The same by the local clock.'),
      }),
      example: {
        description: 'At 06:00',
        ticks: ['2026-11-30T23:00:00.000Z'],
        local: ['2026-12-01T06:00:00+07:00'],
      },
    },
  },
}
