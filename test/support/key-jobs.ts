import { setTimeout as delay } from 'node:timers/promises'
import { defineJob } from '@jadwal/sdk'
import { Redis } from 'ioredis'
import { z } from 'zod'

/**
 * A job of which two runs with one key may run at once. Its handlers note outside of Jadwal when they
 * begin and end: `key-spans` is a LIST of `<began|ended> <key> <run id> <attempt> <pid> <ms since the epoch>`.
 */
const redis = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null })
redis.on('error', () => {})

const keyed = defineJob({
  name: 'fault.keyed',
  queue: 'keys',
  payload: z.object({ key: z.string(), ms: z.number() }),
  concurrency: { key: ({ key }) => key, limit: 2 },
  backoff: { type: 'fixed', delayMs: 100 },
  async handler({ key, ms }, ctx) {
    const note = (what: string): Promise<number> => {
      const span = `${what} ${key} ${ctx.runId} ${ctx.attempt} ${process.pid} ${Date.now()}`
      return redis.rpush(`${process.env['JADWAL_PREFIX']}:key-spans`, span)
    }
    await note('began')
    try {
      await delay(ms, undefined, { signal: ctx.signal })
    } finally {
      await note('ended')
    }
  },
})

export const jobs = [keyed]
