import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type Client,
  defineJob,
  type Job,
  type JobContext,
  type SecretRef,
  type Sendable,
} from './index.ts'
import { runJob, type RunJobResult } from './testing.ts'

const payload = z.object({
  to: z.string(),
  copies: z.int().default(1),
  at: z.string().transform((text) => new Date(text)),
  tags: z.array(z.string()).optional(),
})
const job = defineJob({
  name: 'mail.send',
  queue: 'mails',
  payload,
  concurrency: {
    key(parsed) {
      expectTypeOf(parsed.at).toEqualTypeOf<Date>()
      return parsed.to
    },
    limit: 1,
  },
  handler(parsed, ctx) {
    expectTypeOf(parsed.copies).toEqualTypeOf<number>()
    expectTypeOf(parsed.at).toEqualTypeOf<Date>()
    expectTypeOf(ctx).toEqualTypeOf<JobContext>()
  },
})

type Sent = Sendable<z.input<typeof payload>>
const send = (client: Client, given: Sent) => client.enqueue(job, given)
const byJob = (ctx: JobContext) => ctx.enqueueMany(job, [{ to: 'ops', at: '2026-01-01' }])
const byName = (ctx: JobContext) => ctx.enqueue({ name: 'mail.send' }, { any: ['thing'] })
const made = () => runJob(job, { to: { secret: 'OPS' }, at: '2026-01-01' })

test('a job is typed by its schema', () => {
  expectTypeOf(job).toEqualTypeOf<Job<typeof payload>>()
  expect(job.name).toBe('mail.send')
})

test('what is sent is what the schema takes, with a secret wherever a text may be', () => {
  expectTypeOf<Sent['to']>().toEqualTypeOf<string | SecretRef>()
  expectTypeOf<Sent['copies']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<Sent['at']>().toEqualTypeOf<string | SecretRef>()
  expectTypeOf<Sent['tags']>().toEqualTypeOf<(string | SecretRef)[] | undefined>()
  expectTypeOf(send).returns.resolves.toEqualTypeOf<string>()
  expectTypeOf<ReturnType<Client['enqueueMany']>>().resolves.toEqualTypeOf<string[]>()
})

test('a child is typed by its job, or by nothing where only its name is known', () => {
  expectTypeOf(byJob).returns.resolves.toEqualTypeOf<string[]>()
  expectTypeOf(byName).returns.resolves.toEqualTypeOf<string>()
})

test('the test kit takes what a client takes', () => {
  expectTypeOf(made).returns.resolves.toEqualTypeOf<RunJobResult>()
})
