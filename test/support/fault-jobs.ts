import { setTimeout as delay } from 'node:timers/promises'
import { defineJob } from '@jadwal/sdk'
import { Redis } from 'ioredis'
import { z } from 'zod'

/**
 * The jobs of the fault tests, served by real workers. Each attempt notes itself in Redis, outside of
 * anything that Jadwal keeps: `executions` is a list of `<run id> <attempt> <ms since the epoch>`.
 */
const redis = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null })
redis.on('error', () => {})
export const EXECUTIONS = `${process.env['JADWAL_PREFIX']}:executions`
const SPANS = `${process.env['JADWAL_PREFIX']}:spans`

async function note(ctx: { runId: string; attempt: number }): Promise<void> {
  await redis.rpush(EXECUTIONS, `${ctx.runId} ${ctx.attempt} ${Date.now()}`)
}

const backoff = { delayMs: 200, maxDelayMs: 1_000, jitter: 0.5 }

/** Works for a while, as its payload says, unless its signal aborts. */
const work = defineJob({
  name: 'fault.work',
  queue: 'faults',
  payload: z.object({ ms: z.number().default(0) }),
  backoff,
  async handler({ ms }, ctx) {
    await note(ctx)
    if (ms > 0) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, ms)
        ctx.signal.addEventListener('abort', () => {
          clearTimeout(timer)
          reject(ctx.signal.reason as Error)
        })
      })
    }
    return { worked: ms }
  },
})

/** Counts nothing and keeps nobody waiting. */
const quick = defineJob({
  name: 'fault.quick',
  queue: 'faults',
  payload: z.object({ n: z.number(), filler: z.string().optional() }),
  handler: ({ n }) => n,
})

const fail = defineJob({
  name: 'fault.fail',
  queue: 'faults',
  payload: z.object({}),
  attempts: 5,
  backoff,
  async handler(_payload, ctx) {
    await note(ctx)
    throw new Error('this job always fails')
  },
})

/** Takes its worker down with it, whoever that is. */
const poison = defineJob({
  name: 'fault.poison',
  queue: 'faults',
  payload: z.object({}),
  async handler(_payload, ctx) {
    await note(ctx)
    process.kill(process.pid, 'SIGKILL')
  },
})

/** Notes when it begins and when it ends, also when its signal aborts it: a LIST beside `executions`. */
const span = defineJob({
  name: 'fault.span',
  queue: 'faults',
  payload: z.object({ ms: z.number() }),
  backoff,
  async handler({ ms }, ctx) {
    const noteSpan = (what: string): Promise<number> =>
      redis.rpush(SPANS, `${what} ${ctx.runId} ${ctx.attempt} ${process.pid} ${Date.now()}`)
    await noteSpan('began')
    try {
      await delay(ms, undefined, { signal: ctx.signal })
    } finally {
      await noteSpan('ended')
    }
  },
})

export const jobs = [work, quick, fail, poison, span]
