// Every line under an expected error must not compile, neither against the package nor its source.
import { type Client, defineJob, type JobContext } from '@jadwal/sdk'
import { runJob } from '@jadwal/sdk/testing'
import { z } from 'zod'
import { chargeCard, sendReceipt } from './jobs.ts'

export async function wrong(client: Client, ctx: JobContext): Promise<void> {
  const right = { customer: 'c1', cents: 5, token: { secret: 'CARD' } }
  await client.enqueue(chargeCard, right, { priority: 1, idempotencyKey: 'k' })
  await ctx.enqueue({ name: 'any.job' }, { of: 'whatever form' })
  await ctx.enqueueMany(sendReceipt, [{ to: 'c1' }], { idempotencyKeys: ['k'] })

  // @ts-expect-error: a field is missing
  await client.enqueue(chargeCard, { customer: 'c1', token: 't' })
  // @ts-expect-error: a field has another type
  await client.enqueue(chargeCard, { ...right, cents: '5' })
  // @ts-expect-error: there is no such field
  await client.enqueue(sendReceipt, { to: 'c1', subject: 'hello' })
  // @ts-expect-error: there is no such option
  await client.enqueue(sendReceipt, { to: 'c1' }, { delay: 5 })
  // @ts-expect-error: an option has another type
  await client.enqueue(sendReceipt, { to: 'c1' }, { runAt: '2026-01-01T00:00:00Z' })
  // @ts-expect-error: one key is not enough for many
  await client.enqueueMany(sendReceipt, [{ to: 'c1' }], { idempotencyKey: 'k' })
  // @ts-expect-error: one of many is wrong
  await client.enqueueMany(sendReceipt, [{ to: 'c1' }, { cents: 5 }])
  // @ts-expect-error: a job whose code is at hand is checked in handlers too
  await ctx.enqueue(chargeCard, { customer: 'c1' })
  // @ts-expect-error: what is enqueued has an id, not a number
  const id: number = await ctx.enqueue(sendReceipt, { to: 'c1' })
  // @ts-expect-error: the payload is wrong
  await runJob(sendReceipt, { to: id })
  // @ts-expect-error: there is no such option of the kit
  await runJob(sendReceipt, { to: 'c1' }, { retries: 3 })

  defineJob({
    name: 'a',
    queue: 'b',
    payload: z.object({ n: z.number() }),
    handler(payload, context) {
      // @ts-expect-error: the payload has no such field
      void payload.m
      // @ts-expect-error: the context has no such part
      void context.job
      // @ts-expect-error: a line of a log begins with a sentence or with facts
      context.log.info(payload.n)
    },
  })
  // @ts-expect-error: a list has its waits
  defineJob({ name: 'a', queue: 'b', payload: z.unknown(), backoff: { type: 'list' }, handler })
  // @ts-expect-error: nothing but a thread or a process
  defineJob({ name: 'a', queue: 'b', payload: z.unknown(), isolate: 'vm', handler })
  defineJob({
    name: 'a',
    queue: 'b',
    payload: z.object({ n: z.number() }),
    // @ts-expect-error: a key is made of the payload and is a text
    concurrency: { key: ({ n }) => n, limit: 1 },
    handler,
  })
}

function handler(): void {}
