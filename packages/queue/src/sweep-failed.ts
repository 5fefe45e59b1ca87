import { type Clock, fingerprint, revision, type RunError, type RunFact } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { deadLetterFields } from './dead-letter.ts'
import { keptMessage } from './kept-message.ts'
import { bullKey } from './keys.ts'
import { factLine, scheduleFacts } from './run-fact.ts'
import { type Abandoned, endAbandoned } from './sweep-script.ts'

const AT_ONCE = 100

export interface SweepDeps {
  redis: Redis
  prefix: string
  queue: string
  clock: Clock
}

/** What BullMQ keeps of a message, as far as the sweep needs it. Whatever is broken counts as absent. */
const Hash = z.object({
  name: z.string().catch('unknown'),
  data: z.string().catch('{}'),
  timestamp: z.coerce.number().catch(0),
  priority: z.coerce.number().catch(0),
  ats: z.coerce.number().catch(0),
  atm: z.coerce.number().catch(0),
  failedReason: z.string().catch('BullMQ gave no reason'),
})
type Hash = z.infer<typeof Hash>

/**
 * The net under the queue: BullMQ is told never to fail a message by itself, and whatever it failed all
 * the same gets its fact and its dead letter here. Returns how many runs were ended so.
 */
export async function sweepFailed(deps: SweepDeps): Promise<number> {
  const { redis, prefix, queue } = deps
  let ended = 0
  for (;;) {
    const ids = await redis.zrange(bullKey(prefix, queue, 'failed'), 0, AT_ONCE - 1)
    if (ids.length === 0) return ended
    const messages = await Promise.all(ids.map((id) => readAbandoned(deps, id)))
    ended += await endAbandoned(redis, { prefix, name: queue }, messages)
  }
}

async function readAbandoned(deps: SweepDeps, id: string): Promise<Abandoned> {
  const { redis, prefix, queue, clock } = deps
  const hash = Hash.parse(await redis.hgetall(bullKey(prefix, queue, id)))
  const now = clock.now().toISOString()
  const error: RunError = { name: 'ExhaustedError', message: `BullMQ: ${hash.failedReason}` }
  const data = parseData(hash.data)
  const fact: RunFact = {
    kind: 'run',
    id,
    revision: revision(hash.ats, 'dead'),
    state: 'dead',
    reason: 'exhausted',
    job: hash.name,
    queue,
    ...(await factsOf(deps, { job: hash.name, data })),
    priority: hash.priority,
    enqueued_at: new Date(hash.timestamp).toISOString(),
    attempt: hash.ats,
    finished_at: now,
    error,
    fingerprint: fingerprint(hash.name, error),
    attempt_state: hash.ats > 0 ? 'lost' : undefined,
    attempt_finished_at: now,
  }
  const death = { reason: 'exhausted', error, attempt: hash.ats, at: now } as const
  const letter = {
    job: hash.name,
    data,
    enqueuedAtMs: hash.timestamp,
    failures: hash.atm,
    priority: hash.priority,
    death,
  }
  return {
    id,
    fact: factLine(fact),
    leaves: fact.backfill_id ?? fact.schedule_id ?? '',
    letter: deadLetterFields(letter),
  }
}

async function factsOf(
  { redis, prefix }: SweepDeps,
  from: { job: string; data: object },
): Promise<Partial<RunFact> & { payload: unknown }> {
  const message = await keptMessage(redis, prefix, from)
  const { payload, search, labels, redriveOf, parentId, idempotencyKey } = message
  return {
    payload,
    search,
    ...scheduleFacts(message),
    labels,
    redrive_of: redriveOf,
    parent_id: parentId,
    idempotency_key: idempotencyKey,
  }
}

function parseData(text: string): object {
  try {
    const data: unknown = JSON.parse(text)
    return data !== null && typeof data === 'object' ? data : { payload: data }
  } catch {
    return { payload: text }
  }
}
