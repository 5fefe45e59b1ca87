import { z } from 'zod'
import { At, listAnswer, pageOf } from './answer-parts.ts'
import { DiscardBody, GroupQuery, LetterQuery, RedriveBody } from './dead-letter-request.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'
import { DEAD_EXAMPLE, RunSchema } from './run-schema.ts'

export const GroupSchema = z
  .strictObject({
    fingerprint: z.string().nullable().describe('Null for runs that were recorded without one.'),
    job: z.string(),
    queue: z.string(),
    error: z.string().nullable().describe('The class of the error.'),
    message: z.string().nullable(),
    count: z.int(),
    firstAt: At,
    lastAt: At,
    example: z.uuid().describe('One of its runs.'),
  })
  .meta({ id: 'DeadLetterGroup', description: 'The dead letters of one cause.' })
export type GroupAnswer = z.infer<typeof GroupSchema>

const GROUP_EXAMPLE: GroupAnswer = {
  fingerprint: EXAMPLE.fingerprint,
  job: 'email.send',
  queue: 'emails',
  error: 'PermanentError',
  message: 'no such mailbox',
  count: 1,
  firstAt: EXAMPLE.later,
  lastAt: EXAMPLE.later,
  example: EXAMPLE.dead,
}

const Refused = z.strictObject({
  id: z.uuid(),
  refused: z.enum([
    'no-letter',
    'unknown-job',
    'discarded',
    'redriven',
    'redrive-begun',
    'not-dead',
    'not-found',
    'history-unavailable',
  ]),
  detail: z.string(),
})
const SettlingSchema = z
  .union([
    z.strictObject({ id: z.uuid(), redrivenAs: z.uuid() }),
    z.strictObject({ id: z.uuid(), discarded: z.literal(true) }),
    Refused,
  ])
  .meta({ id: 'Settling', description: 'What became of one dead letter.' })

const Settled = z.strictObject({ items: z.array(SettlingSchema), nextCursor: z.null() })

export const listLettersDoc: OperationDoc = {
  id: 'listDeadLetters',
  summary: 'Search dead letters',
  description: 'The runs that are dead, those that died last first; settled ones when asked for.',
  query: LetterQuery,
  answers: listAnswer(pageOf(RunSchema), DEAD_EXAMPLE),
}

export const groupLettersDoc: OperationDoc = {
  id: 'groupDeadLetters',
  summary: 'What dead letters died of',
  description:
    'Those that are not settled, by cause, largest first; of the last seven days without `from`. All pages are as of the first one.',
  query: GroupQuery,
  answers: {
    200: {
      description: 'A page of the groups.',
      schema: pageOf(GroupSchema).extend({ from: At.describe('Since when they were counted.') }),
      example: { from: '2026-11-23T06:00:00.000Z', items: [GROUP_EXAMPLE], nextCursor: null },
    },
  },
}

export const discardLettersDoc: OperationDoc = {
  id: 'discardDeadLetters',
  summary: 'Discard dead letters',
  description:
    'Named by `ids`, each is answered for. By `filter`, or with `all`, up to 1,000 are discarded, the oldest first: call again with the `nextCursor` of the answer as `cursor` until it is null.',
  body: {
    schema: DiscardBody,
    example: { ids: [EXAMPLE.dead], reason: 'the mailbox is gone for good' },
  },
  answers: {
    200: {
      description: 'What became of them.',
      schema: z.union([
        Settled,
        z.strictObject({
          discarded: z.int().describe('How many this call discarded.'),
          nextCursor: z.string().nullable(),
        }),
      ]),
      example: { items: [{ id: EXAMPLE.dead, discarded: true }], nextCursor: null },
    },
  },
}

export const redriveLettersDoc: OperationDoc = {
  id: 'redriveDeadLetters',
  summary: 'Make new runs of dead letters',
  description:
    'Named by `ids` alone, each gets its new run with the answer. Otherwise, or with `rate` or `canary`, the leader does it by and by: look at `/redrives/{id}`.',
  body: { schema: RedriveBody, example: { ids: [EXAMPLE.dead] } },
  answers: {
    200: {
      description: 'What became of those that were named.',
      schema: Settled,
      example: {
        items: [{ id: EXAMPLE.dead, redrivenAs: EXAMPLE.redrivenAs }],
        nextCursor: null,
      },
    },
    202: {
      description: 'The leader makes them.',
      schema: z.strictObject({
        id: z.uuid(),
        letters: z.int().nullable().describe('How many there are; null when they are too many.'),
      }),
      example: { id: EXAMPLE.redrive, letters: 12_000 },
      headers: { Location: 'Where the redrive is.' },
    },
  },
}
