import { RunState } from '@jadwal/domain'
import { z } from 'zod'
import { At, BackfillParams, listAnswer, pageOf, ScheduleParams } from './answer-parts.ts'
import { BackfillQuery, BackfillRequest } from './backfill-request.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'

/** A backfill as the api shows it. */
export const BackfillSchema = z
  .strictObject({
    id: z.uuid(),
    schedule: z.string(),
    state: z.enum(['running', 'paused', 'cancelled', 'done']),
    from: At,
    to: At,
    all: z.boolean().describe('Also ticks that had a success.'),
    rate: z.number().nullable().describe('Runs a second; null without a limit.'),
    concurrency: z.int(),
    ticks: z.int(),
    skipped: z.int().describe('Passed over, as they had a success or an unfinished run.'),
    enqueued: z.int(),
    position: At.nullable().describe('The last tick that it has seen to.'),
    runs: z.partialRecord(RunState, z.int()).optional().describe('Its runs by state.'),
    problem: z.string().optional(),
    author: z.string(),
    createdAt: At,
    finishedAt: At.nullable(),
  })
  .meta({ id: 'Backfill', description: 'What makes runs for the ticks of a past range.' })
export type BackfillAnswer = z.infer<typeof BackfillSchema>

const BACKFILL_EXAMPLE: BackfillAnswer = {
  id: EXAMPLE.backfill,
  schedule: EXAMPLE.schedule,
  state: 'running',
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-11-08T00:00:00.000Z',
  all: false,
  rate: 5,
  concurrency: 1,
  ticks: 7,
  skipped: 0,
  enqueued: 2,
  position: '2026-11-02T06:00:00.000Z',
  author: 'admin',
  createdAt: EXAMPLE.at,
  finishedAt: null,
}

export const createBackfillDoc: OperationDoc = {
  id: 'createBackfill',
  summary: 'Make runs for ticks of the past',
  description:
    'For the ticks from `from`, which is in the range, to `to`, which is not. The leader makes them: look at `/backfills/{id}`.',
  params: ScheduleParams,
  body: {
    schema: BackfillRequest,
    example: { from: '2026-11-01T00:00:00Z', to: '2026-11-08T00:00:00Z', rate: 5 },
  },
  answers: {
    202: {
      description: 'The leader makes them.',
      schema: z.strictObject({ id: z.uuid(), schedule: z.string(), ticks: z.int() }),
      example: { id: EXAMPLE.backfill, schedule: EXAMPLE.schedule, ticks: 7 },
      headers: { Location: 'Where the backfill is.' },
    },
  },
  problems: ['shadow', 'unknown-job', 'invalid-payload'],
}

export const listBackfillsDoc: OperationDoc = {
  id: 'listBackfills',
  summary: 'Backfills, the latest first',
  query: BackfillQuery,
  answers: listAnswer(pageOf(BackfillSchema), BACKFILL_EXAMPLE),
}

export const readBackfillDoc: OperationDoc = {
  id: 'getBackfill',
  summary: 'Look at a backfill',
  params: BackfillParams,
  answers: {
    200: {
      description: 'The backfill.',
      schema: BackfillSchema,
      example: { ...BACKFILL_EXAMPLE, runs: { succeeded: 1, running: 1 } },
    },
  },
}

export function changeBackfillDoc(act: 'pause' | 'resume' | 'cancel'): OperationDoc {
  const state = { pause: 'paused', resume: 'running', cancel: 'cancelled' } as const
  const finishedAt = act === 'cancel' ? EXAMPLE.later : null
  return {
    id: `${act}Backfill`,
    summary: `${act.charAt(0).toUpperCase()}${act.slice(1)} a backfill`,
    description: 'Asking for what is so already changes nothing.',
    params: BackfillParams,
    answers: {
      200: {
        description: 'The backfill, as it is then.',
        schema: BackfillSchema,
        example: { ...BACKFILL_EXAMPLE, state: state[act], finishedAt },
      },
    },
    problems: ['backfill-ended'],
  }
}
