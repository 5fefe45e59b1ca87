import { ALERTS_QUEUE } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { type FuseView, readFuses } from './fuse-view.ts'
import { leaseKey, outboxKey, outboxRejectedKey, SCHEDULER } from './keys.ts'
import { countQueues, type QueueCounts } from './queue-counts.ts'
import { listQueues, readCatalogue, readWorkers } from './registry.ts'

/** How things stand in Redis, as far as rules ask. */
export interface AlertSnapshot {
  nowMs: number
  /** Without that of alerts. */
  queues: QueueCounts[]
  /** Queues that a live worker serves. */
  served: ReadonlySet<string>
  /** Queues of jobs of the catalogue. */
  catalogued: ReadonlySet<string>
  isLed: boolean
  /** Of each queue, that of the leaders' terms included: `lagMs` is the age of the oldest fact, 0 without one. */
  outboxes: { queue: string; depth: number; lagMs: number; rejected: number }[]
  /** Jobs whose fuse is not closed. */
  fuses: { job: string; queue: string; fuse: FuseView }[]
}

/** Looks at everything once. `nowMs` is by the clock of Redis. */
export async function takeAlertSnapshot(
  redis: Redis,
  prefix: string,
  nowMs: number,
): Promise<AlertSnapshot> {
  const [all, workers, catalogue, lease] = await Promise.all([
    listQueues(redis, prefix),
    readWorkers(redis, prefix, nowMs),
    readCatalogue(redis, prefix),
    redis.exists(leaseKey(prefix)),
  ])
  const names = all.filter((name) => name !== ALERTS_QUEUE)
  const fused = catalogue.filter(({ fuse, queue }) => fuse !== undefined && queue !== ALERTS_QUEUE)
  const [queues, fuses, outboxes] = await Promise.all([
    countQueues(redis, prefix, { queues: names, nowMs }),
    readFuses(redis, prefix, fused),
    readOutboxes(redis, prefix, { queues: [...names, SCHEDULER], nowMs }),
  ])
  return {
    nowMs,
    queues,
    served: new Set(workers.flatMap((worker) => worker.queues.map(({ name }) => name))),
    catalogued: new Set(catalogue.map(({ queue }) => queue)),
    isLed: lease === 1,
    outboxes,
    fuses: fused.flatMap(({ name: job, queue }, at) => {
      const fuse = fuses[at]
      return fuse && fuse.state !== 'closed' ? [{ job, queue, fuse }] : []
    }),
  }
}

async function readOutboxes(
  redis: Redis,
  prefix: string,
  { queues, nowMs }: { queues: readonly string[]; nowMs: number },
): Promise<AlertSnapshot['outboxes']> {
  const pipeline = redis.pipeline()
  for (const queue of queues)
    pipeline
      .xlen(outboxKey(prefix, queue))
      .xrange(outboxKey(prefix, queue), '-', '+', 'COUNT', 1)
      .xlen(outboxRejectedKey(prefix, queue))
  const replies = ((await pipeline.exec()) ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
  return queues.map((queue, at) => {
    const [depth, oldest, rejected] = replies.slice(at * 3) as [number, [string][], number]
    const sinceMs = Number(oldest[0]?.[0].split('-')[0] ?? nowMs)
    return { queue, depth, lagMs: Math.max(0, nowMs - sinceMs), rejected }
  })
}
