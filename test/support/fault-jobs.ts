import { setTimeout as delay } from 'node:timers/promises'
import { defineJob } from '@jadwal/sdk'
import { Redis } from 'ioredis'
import { z } from 'zod'
import { isolatedJobs, spill } from './isolated-jobs.ts'

/**
 * The jobs of the fault tests, served by real workers. Each attempt notes itself in Redis, outside of
 * anything that Jadwal keeps: `executions` is a list of `<run id> <attempt> <ms since the epoch>`.
 */
const redis = new Redis(process.env['REDIS_URL'] ?? '', {
  maxRetriesPerRequest: null,
  // After a failover the address leads elsewhere.
  reconnectOnError: (error) => (error.message.includes('READONLY') ? 2 : false),
})
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

/** Takes its time, and notes nothing: it works also when Redis takes no writes. */
const rest = defineJob({
  name: 'fault.rest',
  queue: 'faults',
  payload: z.object({ ms: z.number() }),
  handler: ({ ms }, ctx) => delay(ms, undefined, { signal: ctx.signal }),
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

/** Keeps its first attempt's worker from doing anything else for so long. */
const block = defineJob({
  name: 'fault.block',
  queue: 'faults',
  payload: z.object({ ms: z.number() }),
  async handler({ ms }, ctx) {
    await note(ctx)
    const until = performance.now() + (ctx.attempt === 1 ? ms : 0)
    while (performance.now() < until);
    return { attempt: ctx.attempt }
  },
})

/** Works for a while, and fails once if its payload says so. */
const shaky = defineJob({
  name: 'fault.shaky',
  queue: 'faults',
  payload: z.object({ ms: z.number(), fails: z.boolean() }),
  attempts: 3,
  backoff,
  async handler({ ms, fails }, ctx) {
    await note(ctx)
    await delay(ms, undefined, { signal: ctx.signal })
    if (!fails || (await redis.hincrby(`${process.env['JADWAL_PREFIX']}:failed`, ctx.runId, 1)) > 1)
      return
    throw new Error('this attempt fails')
  },
})

/** Dies of one cause, told with other numbers each time, until somebody sets `cured` beside `executions`. */
const sick = defineJob({
  name: 'fault.sick',
  queue: 'faults',
  payload: z.object({ n: z.number() }),
  attempts: 1,
  async handler({ n }, ctx) {
    await note(ctx)
    if ((await redis.get(`${process.env['JADWAL_PREFIX']}:cured`)) === null)
      throw new Error(`customer ${n} has no address`)
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

/**
 * Calls a partner that is `up`, `down`, or answers nothing (`stalled`), as the key `partner` says. Notes
 * when a call begins and ends: a LIST `calls` of `<began|ended> <run id> <attempt> <pid> <state>`.
 */
const partner = defineJob({
  name: 'fault.partner',
  queue: 'partners',
  payload: z.object({}),
  attempts: 4,
  backoff,
  fuse: { failureRate: 0.5, minAttempts: 10, windowMs: 60_000, openMs: 500 },
  async handler(_payload, ctx) {
    const state = (await redis.get(`${process.env['JADWAL_PREFIX']}:partner`)) ?? 'up'
    const noteCall = (what: string): Promise<number> => {
      const call = `${what} ${ctx.runId} ${ctx.attempt} ${process.pid} ${state}`
      return redis.rpush(`${process.env['JADWAL_PREFIX']}:calls`, call)
    }
    await noteCall('began')
    if (state === 'stalled') await delay(600_000, undefined, { signal: ctx.signal })
    await delay(20)
    await noteCall('ended')
    if (state === 'down') throw new Error('the partner is down')
  },
})

/** In processes of their own, some of them: the pids are in a LIST beside `executions`. */
const isolated = isolatedJobs(async (ctx) => {
  await redis.rpush(`${process.env['JADWAL_PREFIX']}:pids`, process.pid)
  await note(ctx)
})

export const jobs = [
  ...isolated,
  spill({ name: 'fault.spill', queue: 'faults' }),
  block,
  shaky,
  partner,
  work,
  quick,
  rest,
  fail,
  poison,
  span,
  sick,
]
