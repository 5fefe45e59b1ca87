import { z } from 'zod'
import { At, wholeListOf } from './answer-parts.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'

const LockSchema = z
  .strictObject({
    id: z.string(),
    kind: z
      .enum(['leader', 'alerts', 'slot', 'attempt'])
      .describe(
        'The lease of the leader, that of the api that evaluates alerts, the slot of a concurrency key, the lock of an attempt.',
      ),
    holder: z.string().describe('A scheduler, a token, or the run that has it.'),
    queue: z.string().optional(),
    job: z.string().optional(),
    lot: z.string().optional().describe('Of a slot: what it is one of.'),
    term: z.int().optional(),
    since: At.optional(),
    expiresInMs: z.int().optional().describe('Without it, it lasts until it is given back.'),
    stale: z
      .boolean()
      .describe('Its holder has gone; what looks after locks takes it by itself soon.'),
  })
  .meta({ id: 'Lock' })
export type LockAnswer = z.infer<typeof LockSchema>

const LOCK_EXAMPLE: LockAnswer = {
  id: 'leader',
  kind: 'leader',
  holder: EXAMPLE.scheduler,
  term: 1_795_931_000_000,
  since: EXAMPLE.at,
  expiresInMs: 4_200,
  stale: false,
}

export const listLocksDoc: OperationDoc = {
  id: 'listLocks',
  summary: 'What is held, and by whom',
  description:
    'As this process of the api last read it from Redis, at most three seconds ago and the time that reading takes: the leases, and of slots and of attempts 500 each of all queues together, each queue getting its share.',
  answers: {
    200: {
      description: 'What is held.',
      schema: wholeListOf(LockSchema).extend({
        truncated: z.boolean().describe('There are more slots or attempts than these.'),
      }),
      example: { items: [LOCK_EXAMPLE], nextCursor: null, truncated: false },
    },
  },
}

export const releaseLockDoc: OperationDoc = {
  id: 'releaseLock',
  summary: 'Take a lock from its holder',
  description:
    'The lease of the leader: another scheduler leads at once, under a higher term, and what the one before still sends is refused, so no tick gets a second run; `POST /leader/step-down` is the gentle way. The lease of alerts: another api evaluates them. A slot: only of a run that has gone. The lock of an attempt is never taken: cancel the run.',
  params: z.object({
    id: z.string().meta({ description: 'The id of a lock.', examples: [LOCK_EXAMPLE.id] }),
  }),
  answers: { 204: { description: 'It is free.' } },
  problems: ['not-found', 'lock-in-use'],
}
