/** A module of jobs as a user writes it: what `JADWAL_JOBS` points at. docs/jobs.md shows the same. */
import { defineJob, PermanentError } from '@jadwal/sdk'
import { z } from 'zod'

const chargeCard = defineJob({
  name: 'card.charge',
  queue: 'payments',
  payload: z.object({ customer: z.string(), cents: z.int().positive() }),
  attempts: 5,
  backoff: { delayMs: 2_000, maxDelayMs: 300_000 },
  timeoutMs: 30_000,
  async handler(payload, ctx) {
    if (payload.cents > 100_000) throw new PermanentError('above the limit of a card')
    ctx.log.info({ customer: payload.customer }, 'charging')
    await ctx.progress({ step: 'asked the bank' })
    return { charged: payload.cents, idempotencyKey: ctx.runId }
  },
})

export const jobs = [chargeCard]
