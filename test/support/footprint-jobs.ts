import { defineJob, PermanentError } from '@jadwal/sdk'
import { z } from 'zod'

/** Jobs that end in every way, as fast as they can. */
const backoff = { delayMs: 1, maxDelayMs: 1, jitter: 0 }
const payload = z.object({ n: z.number(), text: z.string() })

const done = defineJob({
  name: 'footprint.done',
  queue: 'footprint-done',
  payload,
  handler: ({ n }) => ({ n }),
})

const retried = defineJob({
  name: 'footprint.retried',
  queue: 'footprint-retried',
  payload,
  backoff,
  handler({ n }, ctx) {
    if (ctx.attempt === 1) throw new Error('the first attempt fails')
    return n
  },
})

const dead = defineJob({
  name: 'footprint.dead',
  queue: 'footprint-dead',
  payload,
  handler() {
    throw new PermanentError('this never works')
  },
})

const keyed = defineJob({
  name: 'footprint.keyed',
  queue: 'footprint-keyed',
  payload,
  concurrency: { key: ({ n }) => `tenant-${n % 1_000}`, limit: 1 },
  handler: () => {},
})

export const jobs = [done, retried, dead, keyed]
