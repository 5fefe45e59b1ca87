import { RunReason, RunState, TICK_VERDICTS } from '@jadwal/domain'
import { z } from 'zod'
import { At, ScheduleParams, wholeListOf } from './answer-parts.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'
import { LedgerQuery, NextQuery } from './tick-query.ts'

/** A tick of the ledger as the api shows it. */
export const TickSchema = z
  .strictObject({
    tickAt: At,
    verdict: z.enum(TICK_VERDICTS),
    reason: RunReason.optional().describe('Why it got no run, or will get none.'),
    version: z.int().optional().describe('The version that expects it.'),
    unexpected: z.literal(true).optional().describe('No version expects it.'),
    latenessMs: z.number().optional().describe('From the tick and its jitter to its run.'),
    run: z
      .strictObject({
        id: z.uuid(),
        state: RunState,
        reason: RunReason.optional(),
        startedAt: At.nullable(),
        finishedAt: At.nullable(),
        term: z.int().nullable(),
      })
      .optional(),
    late: z.literal(true).optional(),
    lateAt: At.optional(),
    range: z
      .strictObject({ from: At, until: At, ticks: z.int().nullable() })
      .optional()
      .describe('The skipped ticks that it is told of with.'),
    backfills: z
      .array(z.strictObject({ id: z.uuid(), state: RunState, backfillId: z.uuid() }))
      .optional(),
  })
  .meta({ id: 'Tick', description: 'One instant of a schedule, and what became of it.' })
export type TickAnswer = z.infer<typeof TickSchema>

const Summary = z.strictObject({
  ticks: z.int(),
  verdicts: z.record(z.enum(TICK_VERDICTS), z.int()),
  reasons: z.partialRecord(RunReason, z.int()).describe('Of those skipped.'),
  late: z.int(),
  unexpected: z.int(),
})

const LedgerSchema = z.strictObject({
  schedule: z.strictObject({ id: z.uuid(), name: z.string(), deletedAt: At.optional() }),
  from: At,
  to: At,
  items: z.array(TickSchema),
  nextCursor: At.nullable(),
  summary: Summary.optional(),
})
export type LedgerAnswer = z.infer<typeof LedgerSchema>

const LEDGER_EXAMPLE: LedgerAnswer = {
  schedule: { id: EXAMPLE.scheduleId, name: EXAMPLE.schedule },
  from: '2026-11-29T06:00:00.000Z',
  to: '2026-11-30T06:00:01.000Z',
  items: [
    {
      tickAt: EXAMPLE.at,
      verdict: 'fired',
      version: 3,
      latenessMs: 12,
      run: {
        id: EXAMPLE.run,
        state: 'succeeded',
        startedAt: EXAMPLE.at,
        finishedAt: EXAMPLE.later,
        term: 1_795_931_000_000,
      },
    },
  ],
  nextCursor: null,
}

export const readLedgerDoc: OperationDoc = {
  id: 'listTicks',
  summary: 'What became of the ticks of a schedule',
  description:
    'Every tick that its versions make expected from `from`, which is in the period, to `to`, which is not, the earliest first; of the last day without them.',
  params: ScheduleParams,
  query: LedgerQuery,
  answers: {
    200: { description: 'A page of the ledger.', schema: LedgerSchema, example: LEDGER_EXAMPLE },
  },
}

const NextTickSchema = z.strictObject({
  tickAt: At,
  local: z.string().describe("By the clock of the schedule's time zone."),
  startsAt: At.describe("When its run is to start: the schedule's jitter later."),
  skipped: RunReason.optional().describe('Why it will get no run, if nobody changes anything.'),
})
export type NextTickAnswer = z.infer<typeof NextTickSchema>

const NEXT_EXAMPLE: NextTickAnswer = {
  tickAt: '2026-11-30T23:00:00.000Z',
  local: '2026-12-01T06:00:00+07:00',
  startsAt: '2026-11-30T23:00:00.000Z',
}

export const nextTicksDoc: OperationDoc = {
  id: 'listNextTicks',
  summary: 'The next ticks of a schedule',
  params: ScheduleParams,
  query: NextQuery,
  answers: {
    200: {
      description: 'The next ticks, those that will be skipped among them.',
      schema: wholeListOf(NextTickSchema),
      example: { items: [NEXT_EXAMPLE], nextCursor: null },
    },
  },
}
