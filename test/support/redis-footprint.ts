import { keys, trimDeadLetters } from '@jadwal/queue'
import { eventually, startTestRedis } from '@jadwal/testkit'
import type { Redis } from 'ioredis'
import { expect, onTestFinished } from 'vitest'
import { bundle } from './bundle-jobs.ts'
import { setupSystem } from './system.ts'

/** Of a hundred runs. The rest succeed at once. */
const OF_A_HUNDRED = { retried: 10, dead: 5, keyed: 10 }
const BULK = 2_000
/** Runs that make whatever is there but once. */
const WARM_UP = 5_000

export interface Footprint {
  usedBytes: number
  keys: number
}

/** What Redis holds before and after so many runs, of every kind of end, whose dead letters were cleared. */
export async function footprintOf(runs: number): Promise<{ before: Footprint; after: Footprint }> {
  const server = await startTestRedis({ appendonly: 'no' })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const system = await setupSystem({
    redisUrl: server.url,
    env: {
      JADWAL_JOBS: await bundle('support/footprint-jobs.ts'),
      JADWAL_QUEUES: Object.keys(QUEUES)
        .map((kind) => `footprint-${kind}:100`)
        .join(','),
      JADWAL_LOCK_MS: '30000',
      JADWAL_LOG_LEVEL: 'fatal',
    },
  })
  const { redis, prefix, producer, start, database } = system
  await Promise.all([start('worker').ready, start('recorder').ready])

  async function finish(count: number): Promise<Footprint> {
    for (let at = 0; at < count; at += BULK) {
      for (const [kind, share] of Object.entries(QUEUES)) {
        const length = Math.round((Math.min(BULK, count - at) * share) / 100)
        await producer.enqueueMany(
          { name: `footprint.${kind}`, queue: `footprint-${kind}` },
          Array.from({ length }, (_, n) => ({ n, text: 'x'.repeat(100) })),
        )
      }
    }
    await allEnded(redis, prefix)
    for (const queue of queueNames()) {
      // BullMQ keeps the last 10,000 events or so of a queue, however many runs there were.
      await redis.xtrim(keys.bullKey(prefix, queue, 'events'), 'MAXLEN', 0)
      while ((await trimDeadLetters(redis, prefix, { queue, beforeMs: Infinity, batch: 500 })) > 0);
    }
    return await measure(redis)
  }

  const before = await finish(WARM_UP)
  const after = await finish(runs)
  const { count } = await database.db
    .selectFrom('runs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', 'in', ['succeeded', 'dead'])
    .executeTakeFirstOrThrow()
  expect(count).toBe(WARM_UP + runs)
  return { before, after }
}

const QUEUES = {
  done: 100 - OF_A_HUNDRED.retried - OF_A_HUNDRED.dead - OF_A_HUNDRED.keyed,
  ...OF_A_HUNDRED,
}

function queueNames(): string[] {
  return Object.keys(QUEUES).map((kind) => `footprint-${kind}`)
}

/** Nothing waits, nothing is in hand, and every fact is in Postgres. */
async function allEnded(redis: Redis, prefix: string): Promise<void> {
  await eventually(
    async () => {
      for (const queue of queueNames()) {
        const key = (part: string): string => keys.bullKey(prefix, queue, part)
        const left = [
          await redis.llen(key('wait')),
          await redis.llen(key('active')),
          await redis.zcard(key('delayed')),
          await redis.xlen(keys.outboxKey(prefix, queue)),
        ]
        expect(left, `waiting, active, delayed and facts of ${queue}`).toEqual([0, 0, 0, 0])
      }
    },
    { timeoutMs: 300_000, everyMs: 200 },
  )
}

async function measure(redis: Redis): Promise<Footprint> {
  const info = await redis.info('memory')
  return {
    usedBytes: Number(/^used_memory:(\d+)/m.exec(info)?.[1]),
    keys: await redis.dbsize(),
  }
}
