import type { OutboxHealth, QueueHealth, WorkHealth } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { outboxKey, outboxRejectedKey, leaseKey, SCHEDULER } from './keys.ts'
import { countQueues, type QueueCounts } from './queue-counts.ts'
import { listQueues, readLeader, readWorkers } from './registry.ts'

/** Looks at what the services leave in Redis. */
export async function readWorkHealth(redis: Redis, prefix: string): Promise<WorkHealth> {
  const [seconds, micros] = await redis.time()
  const nowMs = Math.floor(Number(seconds) * 1_000 + Number(micros) / 1_000)
  const names = await listQueues(redis, prefix)
  const [leader, isLed, workers, counts, schedulerOutbox] = await Promise.all([
    readLeader(redis, prefix),
    redis.exists(leaseKey(prefix)),
    readWorkers(redis, prefix, nowMs),
    countQueues(redis, prefix, { queues: names, nowMs }),
    readOutbox(redis, prefix, { queue: SCHEDULER, nowMs }),
  ])
  const queues = await Promise.all(
    counts.map((queue) => readQueue(redis, prefix, { queue, nowMs })),
  )
  return {
    leader: isLed === 1 ? leader : undefined,
    workers: workers.map(({ instance, version, seenAt, queues: served }) => ({
      instance,
      version,
      seenAt,
      queues: served.map(({ name }) => name),
    })),
    queues,
    schedulerOutbox,
    nowMs,
  }
}

async function readQueue(
  redis: Redis,
  prefix: string,
  { queue, nowMs }: { queue: QueueCounts; nowMs: number },
): Promise<QueueHealth> {
  const { name, counts } = queue
  const outbox = await readOutbox(redis, prefix, { queue: name, nowMs })
  return { name, waiting: counts.waiting + counts.prioritized, ...outbox }
}

async function readOutbox(
  redis: Redis,
  prefix: string,
  { queue, nowMs }: { queue: string; nowMs: number },
): Promise<OutboxHealth> {
  const [depth, [oldest], rejected] = await Promise.all([
    redis.xlen(outboxKey(prefix, queue)),
    redis.xrange(outboxKey(prefix, queue), '-', '+', 'COUNT', 1),
    redis.xlen(outboxRejectedKey(prefix, queue)),
  ])
  const oldestMs = oldest === undefined ? 0 : Math.max(0, nowMs - Number(oldest[0].split('-')[0]))
  return { depth, oldestMs, rejected }
}
