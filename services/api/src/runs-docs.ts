import { RunState } from '@jadwal/domain'
import { z } from 'zod'
import { DeadRunParams, listAnswer, pageOf, RunParams } from './answer-parts.ts'
import { EnqueueRequest } from './enqueue-request.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'
import { ProblemDocument } from './problem-schema.ts'
import { RunQuery } from './run-query.ts'
import { RUN_EXAMPLE, RunSchema } from './run-schema.ts'

const WrittenRun = EnqueueRequest.meta({
  id: 'EnqueueRequest',
  description: 'A run to be made: of which job, with what, and when.',
})

/** A run that was asked for, in a few words. */
const Accepted = z
  .strictObject({
    id: z.uuid(),
    state: RunState.optional().describe('Absent where it cannot be told right now.'),
    existing: z
      .literal(true)
      .optional()
      .describe('It was there already: its id or idempotency key is that of an earlier request.'),
  })
  .meta({ id: 'AcceptedRun' })

const RunPage = pageOf(RunSchema).extend({
  partial: z
    .literal(true)
    .optional()
    .describe('Redis cannot be reached: runs that are not in the history yet are missing.'),
})

const LOCATION = { Location: 'Where the run is.' }

export const listRunsDoc: OperationDoc = {
  id: 'listRuns',
  summary: 'Search runs',
  description:
    'The latest first. A cursor is the place of a run, so that runs which come while you page neither double nor hide any. Runs that wait or run and are not in the history yet are among them, as far as they came to their queue last; words are looked for in their searchable text alone. A page can be short and have a cursor all the same, where a search takes long: go on with it.',
  query: RunQuery,
  answers: listAnswer(RunPage, RUN_EXAMPLE),
}

export const enqueueRunDoc: OperationDoc = {
  id: 'enqueueRun',
  summary: 'Enqueue a run',
  description:
    'Pass an `id` of your own (a UUIDv7) or an `idempotencyKey` to be able to send the request again when its answer was lost: it is the same run then, for 24 hours.',
  body: {
    schema: WrittenRun,
    example: { job: 'email.send', payload: { to: 'ana@example.com', template: 'welcome' } },
  },
  answers: {
    202: {
      description: 'The run is in its queue.',
      schema: Accepted,
      example: { id: EXAMPLE.run, state: 'queued' },
      headers: LOCATION,
    },
  },
  problems: ['unknown-job', 'invalid-payload', 'idempotency-conflict'],
}

export const readRunDoc: OperationDoc = {
  id: 'getRun',
  summary: 'Look at a run',
  description: 'As it is now, also when it is not in the history yet.',
  params: RunParams,
  answers: { 200: { description: 'The run.', schema: RunSchema, example: RUN_EXAMPLE } },
}

export const cancelRunDoc: OperationDoc = {
  id: 'cancelRun',
  summary: 'Cancel a run',
  description:
    'A run that waits has ended with the answer; one that runs is told to, and its worker ends it.',
  params: RunParams,
  answers: {
    202: {
      description: 'It has ended, or will.',
      schema: z.strictObject({ id: z.uuid(), state: RunState }),
      example: { id: EXAMPLE.run, state: 'cancelled' },
      headers: LOCATION,
    },
  },
  problems: ['run-ended'],
}

export const retryRunDoc: OperationDoc = {
  id: 'retryRun',
  summary: 'Retry a run now',
  description:
    'A run that waits for its next attempt is made now. Of a dead one a new run is made, which the answer names.',
  params: DeadRunParams,
  answers: {
    202: {
      description: 'The run that will be made.',
      schema: z.strictObject({
        id: z.uuid(),
        state: RunState,
        redriveOf: z.uuid().optional().describe('The dead run that it was made of.'),
      }),
      example: { id: EXAMPLE.redrivenAs, state: 'queued', redriveOf: EXAMPLE.dead },
      headers: LOCATION,
    },
  },
  problems: ['not-retrying', 'letter-discarded', 'unknown-job'],
}

const BatchItem = z.strictObject({
  id: z.uuid(),
  state: z.literal('queued').optional(),
  existing: z.literal(true).optional(),
})
/** A line of the answer to a stream. */
const BatchLine = z
  .union([
    BatchItem.extend({ line: z.int() }),
    z.strictObject({ line: z.int(), problem: ProblemDocument }),
    z.strictObject({
      afterLine: z.int().describe('Lines after it are not sure to be in.'),
      problem: ProblemDocument,
    }),
  ])
  .meta({ id: 'BatchLine' })
const FIRST = { job: 'email.send', payload: { to: 'ana@example.com', template: 'welcome' } }

export const enqueueBatchDoc: OperationDoc = {
  id: 'enqueueRuns',
  summary: 'Enqueue many runs',
  description:
    'Up to 10,000, in 32 MiB. When one of them is wrong none is enqueued, and the problem names those that are, as `runs[3].payload.to`.\n\nAs `application/x-ndjson`, a run a line, up to 1,000,000 lines: each line is answered with a line, in their order, while others still come in. One that is wrong is answered with its problem, and the others are enqueued all the same. Read the answers while you send: the stream is read no faster. A process of the api serves 16 such streams at once; one more is answered with 503 and `Retry-After`. A last line with `afterLine` says that the stream was given up; what was not answered may be in or not, so give each run an `id` or `idempotencyKey` and send it again.',
  body: {
    schema: z.strictObject({ runs: z.array(WrittenRun).min(1).max(10_000) }),
    example: { runs: [FIRST] },
    otherwise: {
      'application/x-ndjson': { schema: WrittenRun, example: `${JSON.stringify(FIRST)}\n` },
    },
  },
  answers: {
    202: {
      description: 'The runs are in their queues, in the order of the request.',
      schema: z.strictObject({ runs: z.array(BatchItem) }),
      example: { runs: [{ id: EXAMPLE.run, state: 'queued' }] },
      otherwise: {
        'application/x-ndjson': {
          schema: BatchLine,
          example: `${JSON.stringify({ line: 1, id: EXAMPLE.run, state: 'queued' })}\n`,
        },
      },
    },
  },
  problems: ['unknown-job', 'invalid-payload', 'idempotency-conflict', 'too-many-streams'],
}
