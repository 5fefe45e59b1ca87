import type { Redis } from 'ioredis'
import { z } from 'zod'
import { bullKey, deadKey, outboxKey, queuePauseKey, SCHEDULER } from './keys.ts'
import { pauseState, type QueuePause } from './queue-pause.ts'

/** How much lies where in a queue. */
export interface QueueCounts {
  name: string
  /** Messages by BullMQ's state. A queue that is paused keeps its messages in `waiting`. */
  counts: Record<MessageState, number>
  deadLetters: number
  paused: boolean
  /** Who paused it and why; null when it is not paused, or was not by Jadwal. */
  pause: QueuePause | null
  /** Age of the run that is taken next, from when it was enqueued or due, in s; null when none waits. */
  oldestWaitingSeconds: number | null
  /** Entries of facts on their way to Postgres. */
  outboxDepth: number
}

export type MessageState = 'waiting' | 'prioritized' | 'delayed' | 'active' | 'failed' | 'completed'

/** Counts all given queues in two round trips. */
export async function countQueues(
  redis: Redis,
  prefix: string,
  { queues, nowMs }: { queues: readonly string[]; nowMs: number },
): Promise<QueueCounts[]> {
  const pipeline = redis.pipeline()
  for (const queue of queues) {
    pipeline
      .llen(bullKey(prefix, queue, 'wait'))
      .zcard(bullKey(prefix, queue, 'prioritized'))
      .zcard(bullKey(prefix, queue, 'delayed'))
      .llen(bullKey(prefix, queue, 'active'))
      .zcard(bullKey(prefix, queue, 'failed'))
      .zcard(bullKey(prefix, queue, 'completed'))
      .llen(deadKey(prefix, queue, 'wait'))
      .hget(bullKey(prefix, queue, 'meta'), 'paused')
      .xlen(outboxKey(prefix, queue))
      // BullMQ takes from the right of `wait`, and the lowest score of `prioritized`.
      .lindex(bullKey(prefix, queue, 'wait'), -1)
      .zrange(bullKey(prefix, queue, 'prioritized'), 0, 0)
      .hgetall(queuePauseKey(prefix, queue))
  }
  const replies = (await pipeline.exec()) ?? []
  const perQueue = queues.length === 0 ? 0 : replies.length / queues.length
  const values = replies.map(([error, value]) => {
    if (error) throw error
    return value
  })
  const counted = queues.map((queue, at) => ({
    queue,
    reply: Reply.parse(values.slice(at * perQueue, (at + 1) * perQueue)),
  }))
  const waitingSince = await firstWaitingSince(
    redis,
    counted.flatMap(({ queue, reply }) =>
      [reply[9], ...reply[10]].flatMap((id) =>
        id === null ? [] : [{ queue, key: bullKey(prefix, queue, id) }],
      ),
    ),
  )
  return counted.map(({ queue, reply }) => {
    const since = waitingSince.get(queue)
    const { paused, pause } = pauseState(reply[7] !== null, reply[11])
    return {
      name: queue,
      counts: {
        waiting: reply[0],
        prioritized: reply[1],
        delayed: reply[2],
        active: reply[3],
        failed: reply[4],
        completed: reply[5],
      },
      deadLetters: reply[6],
      paused,
      pause,
      oldestWaitingSeconds: since === undefined ? null : Math.max(0, nowMs - since) / 1_000,
      outboxDepth: reply[8],
    }
  })
}

/** Entries in the outbox of the leaders' terms. */
export async function countTermsOutbox(redis: Redis, prefix: string): Promise<number> {
  return await redis.xlen(outboxKey(prefix, SCHEDULER))
}

const Count = z.int()
const Reply = z.tuple([
  Count,
  Count,
  Count,
  Count,
  Count,
  Count,
  Count,
  z.string().nullable(),
  Count,
  z.string().nullable(),
  z.array(z.string()),
  z.unknown(),
])
const Options = z.object({ delay: z.number().optional() }).catch({})

/** By queue, when the first of its messages at the head could have been taken (ms since the epoch). */
async function firstWaitingSince(
  redis: Redis,
  heads: readonly { queue: string; key: string }[],
): Promise<Map<string, number>> {
  const pipeline = redis.pipeline()
  for (const { key } of heads) pipeline.hmget(key, 'timestamp', 'opts')
  const replies = heads.length === 0 ? [] : ((await pipeline.exec()) ?? [])
  const since = new Map<string, number>()
  for (const [at, { queue }] of heads.entries()) {
    const [timestamp, opts] = (replies[at]?.[1] ?? []) as (string | null)[]
    if (timestamp == null) continue
    const dueMs = Number(timestamp) + (Options.parse(parseJson(opts)).delay ?? 0)
    since.set(queue, Math.min(dueMs, since.get(queue) ?? Infinity))
  }
  return since
}

function parseJson(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? '{}')
  } catch {
    return {}
  }
}
