// What somebody writes who has installed the sdk. The test compiles and runs it against the package.
import { defineJob, type JobContext, PermanentError } from '@jadwal/sdk'
import { z } from 'zod'

export const sendReceipt = defineJob({
  name: 'receipt.send',
  queue: 'consumers',
  payload: z.object({ to: z.string(), cents: z.int().default(0) }),
  backoff: { type: 'list', delaysMs: [10, 20] },
  handler({ to, cents }) {
    const known: { to: string; cents: number } = { to, cents }
    return known
  },
})

export const chargeCard = defineJob({
  name: 'card.charge',
  queue: 'consumers',
  payload: z.object({ customer: z.string(), cents: z.int().positive(), token: z.string() }),
  concurrency: { key: ({ customer }) => customer, limit: 2 },
  handler: charge,
})

async function charge(
  { customer, cents }: { customer: string; cents: number },
  ctx: JobContext,
): Promise<{ charged: number; receipt: string }> {
  if (cents > 100_000) throw new PermanentError('above the limit of a card')
  ctx.log.info({ customer }, 'charging')
  await ctx.progress({ step: 'asked the bank' })
  const receipt = await ctx.enqueue(sendReceipt, { to: customer }, { delayMs: 1 })
  return { charged: cents, receipt }
}

export const jobs = [chargeCard, sendReceipt]
