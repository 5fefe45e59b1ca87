import { type AnyJob, defineJob } from '@jadwal/sdk'
import { z } from 'zod'

/** `demo.hello`: done at once. */
export const demoHello: AnyJob = defineJob({
  name: 'demo.hello',
  queue: 'demo',
  description: 'Greets. Done in no time.',
  payload: z.strictObject({ name: z.string().default('world') }),
  handler(payload, ctx) {
    const greeting = `Hello, ${payload.name}!`
    ctx.log.debug({ greeting }, 'greeted')
    return { greeting }
  },
})

/** `demo.flaky`: fails at random, so that there are retries and dead letters to look at. */
export const demoFlaky: AnyJob = defineJob({
  name: 'demo.flaky',
  queue: 'demo',
  description: 'Fails at random: retries and dead letters to look at.',
  payload: z.strictObject({ failureRate: z.number().min(0).max(1).default(0.5) }),
  attempts: 3,
  backoff: { delayMs: 1_000, maxDelayMs: 10_000 },
  handler(payload, ctx) {
    if (Math.random() < payload.failureRate) throw new Error('the dice said no')
    return { luckyAttempt: ctx.attempt }
  },
})
