import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob, type JobContext, PermanentError, RetryLaterError } from './index.ts'
import { runJob } from './testing.ts'

const shrink = defineJob({
  name: 'image.shrink',
  queue: 'images',
  payload: z.object({ url: z.url(), width: z.int() }),
  handler: () => 'shrunk',
})

function jobOf(handler: (payload: { key?: string | undefined }, ctx: JobContext) => unknown) {
  return defineJob({
    name: 'tested',
    queue: 'tests',
    payload: z.object({ key: z.string().optional(), at: z.coerce.date().optional() }),
    attempts: 3,
    backoff: { type: 'list', delaysMs: [100, 700], jitter: 0.5 },
    handler,
  })
}

function throwing(error: unknown) {
  return jobOf(() => {
    throw error
  })
}

test('a child that is no job, of a reserved queue, or with a payload that is no JSON is refused', async () => {
  const anything = defineJob({ ...shrink, payload: z.unknown() })
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const problems: string[] = []
  const job = jobOf(async (_payload, ctx) => {
    for (const child of [
      () => ctx.enqueue(anything, circle),
      () => ctx.enqueue({ ...anything, queue: 'ticks' }, 1),
      () => ctx.enqueue(undefined as never, 1),
      () => ctx.enqueueMany(anything, 5 as never),
    ])
      await child().catch((error: Error) => problems.push(`${error.name} ${error.message}`))
  })
  expect((await runJob(job, {})).enqueued).toEqual([])
  expect(problems).toEqual([
    expect.stringMatching(/^InvalidRunError payload: must be something that JSON can say/),
    expect.stringMatching(/^InvalidRunError job: queue \("ticks"\): is reserved/),
    expect.stringMatching(/^InvalidRunError job \(undefined\): must be/),
    expect.stringMatching(/^InvalidRunError payloads \(5\): must be a list/),
  ])
})

test('a job that succeeds has its result as JSON has it, and the handler its context', async () => {
  const job = jobOf((payload, ctx) => ({
    payload,
    attempt: ctx.attempt,
    runId: ctx.runId,
    tickAt: ctx.tickAt,
    schedule: ctx.schedule,
    parentId: ctx.parentId,
    left: undefined,
  }))
  const ids = { runId: crypto.randomUUID(), parentId: crypto.randomUUID() }
  const tickAt = new Date('2026-09-01T10:00:00Z')
  const made = await runJob(
    job,
    { at: tickAt },
    { attempt: 2, schedule: 'nightly', tickAt, ...ids },
  )
  expect(made).toEqual({
    state: 'succeeded',
    result: {
      payload: { at: '2026-09-01T10:00:00.000Z' },
      attempt: 2,
      tickAt: '2026-09-01T10:00:00.000Z',
      schedule: 'nightly',
      ...ids,
    },
    logs: [],
    progress: [],
    enqueued: [],
  })
})

test('what is thrown is judged as a worker judges it', async () => {
  const job = throwing(new Error('no luck'))
  const first = await runJob(job, {})
  expect(first).toMatchObject({ state: 'retrying', delayMs: 100, error: { message: 'no luck' } })
  const second = await runJob(job, {}, { attempt: 2, random: 0.5 })
  expect(second).toMatchObject({ state: 'retrying', delayMs: 525 })
  const last = await runJob(job, {}, { attempt: 3 })
  expect(last).toMatchObject({ state: 'dead', reason: 'failed', error: { message: 'no luck' } })
  const only = await runJob(job, {}, { attempts: 1 })
  expect(only).toMatchObject({ state: 'dead', reason: 'failed' })
})

test('a PermanentError is dead at once, a RetryLaterError sets its own wait', async () => {
  const permanent = await runJob(throwing(new PermanentError('never')), {})
  expect(permanent).toMatchObject({
    state: 'dead',
    reason: 'permanent',
    error: { code: 'PERMANENT' },
  })
  const later = await runJob(throwing(new RetryLaterError(7_000)), {})
  expect(later).toMatchObject({ state: 'retrying', delayMs: 7_000 })
})

test('an attempt that takes too long has its signal aborted and fails', async () => {
  const job = jobOf(
    (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      }),
  )
  const made = await runJob(job, {}, { timeoutMs: 20 })
  expect(made).toMatchObject({ state: 'retrying', error: { name: 'TimeoutError' } })
  const cancel = AbortSignal.timeout(20)
  const cancelled = await runJob(job, {}, { signal: cancel })
  expect(cancelled).toMatchObject({ state: 'cancelled', reason: 'cancelled' })
  const before = await runJob(job, {}, { signal: AbortSignal.abort() })
  expect(before).toMatchObject({ state: 'cancelled' })
})

test('a payload that breaks the schema is a dead letter, and the handler is not called', async () => {
  const made = await runJob(shrink, { url: 'nowhere', width: 7 })
  expect(made).toMatchObject({ state: 'dead', reason: 'invalid-payload', result: undefined })
  expect(made.error?.message).toMatch(/url: Invalid URL/)
})

test('secrets reach the handler, and neither lines, progress, result nor error', async () => {
  const job = jobOf(async ({ key }, ctx) => {
    ctx.log.warn({ headers: { authorization: `Bearer ${key}` } }, `the key is ${key}`)
    await ctx.progress({ key })
    if (ctx.attempt > 1) throw new Error(`refused: ${key}`)
    return { length: key?.length, key }
  })
  const payload = { key: { secret: 'KEY' } }
  const secrets = { KEY: 'hunter22' }
  const made = await runJob(job, payload, { secrets })
  expect(made).toMatchObject({
    state: 'succeeded',
    result: { length: 8, key: '***' },
    progress: [{ key: '***' }],
    logs: [
      {
        level: 'warn',
        message: 'the key is ***',
        facts: { headers: { authorization: 'Bearer ***' } },
      },
    ],
  })
  const failed = await runJob(job, payload, { secrets, attempt: 2 })
  expect(JSON.stringify(failed)).not.toContain('hunter')
  const missing = await runJob(job, payload)
  expect(missing).toMatchObject({ state: 'dead', reason: 'permanent' })
  expect(missing.error?.message).toContain('KEY')
})

test('children carry their parent and a key that is the same in every attempt', async () => {
  const images = ['a', 'b', 'a'].map((name) => ({ url: `https://example.com/${name}`, width: 7 }))
  const job = jobOf(async (_, ctx) => {
    await ctx.enqueueMany(shrink, images, { delayMs: 500 })
    const own = await ctx.enqueue(
      shrink,
      { ...images[0], url: 'https://example.com', width: 1 },
      {
        idempotencyKey: 'mine',
      },
    )
    await ctx.enqueue({ name: 'mail.send' }, { to: 'ops' })
    return own
  })
  const runId = crypto.randomUUID()
  const { enqueued, result } = await runJob(job, {}, { runId })
  const again = await runJob(job, {}, { runId, attempt: 2 })
  const other = await runJob(job, {})
  expect(enqueued).toHaveLength(5)
  expect(enqueued[0]).toMatchObject({
    job: 'image.shrink',
    queue: 'images',
    payload: images[0],
    parentId: runId,
    delayMs: 500,
  })
  expect(enqueued[3]).toMatchObject({ idempotencyKey: 'mine', id: result })
  expect(enqueued[4]).toMatchObject({ job: 'mail.send', payload: { to: 'ops' } })
  const keys = enqueued.map((child) => child.idempotencyKey)
  expect(new Set(keys).size).toBe(5)
  expect(again.enqueued.map((child) => child.idempotencyKey)).toEqual(keys)
  expect(other.enqueued[0]?.idempotencyKey).not.toBe(keys[0])
})

test('a call that failed gives its key to the one that repeats it', async () => {
  const job = jobOf(async (_, ctx) => {
    await ctx.enqueue({ name: 'mail.send', queue: 'No Queue' }, {}).catch(() => undefined)
    await ctx.enqueue({ name: 'mail.send', queue: 'mails' }, {})
  })
  const plain = jobOf((_, ctx) => ctx.enqueue({ name: 'mail.send', queue: 'mails' }, {}))
  const runId = crypto.randomUUID()
  const [repeated, once] = await Promise.all([
    runJob(job, {}, { runId }),
    runJob(plain, {}, { runId }),
  ])
  expect(repeated.enqueued).toMatchObject([{ idempotencyKey: once.enqueued[0]?.idempotencyKey }])
})

test.each([
  [
    'payload',
    (ctx: JobContext) => ctx.enqueue(shrink, { url: 'x', width: 1 }),
    /url \("x"\): Invalid/,
  ],
  [
    'option',
    (ctx: JobContext) => ctx.enqueue(shrink, { url: 'https://a.de', width: 1 }, { priority: -1 }),
    /priority \(-1\)/,
  ],
  ['delay', (ctx: JobContext) => ctx.enqueue({ name: 'x' }, {}, { delayMs: 1e16 }), /5 years/],
  ['name', (ctx: JobContext) => ctx.enqueue({ name: 'Mail' }, {}), /name \("Mail"\): must match/],
  ['job', (ctx: JobContext) => ctx.enqueue({ name: 'mail' }, {}), /job \("mail"\): no worker/],
  ['count', (ctx: JobContext) => ctx.enqueueMany(shrink, [], { ids: ['a'] }), /ids/],
])(
  'a child with a wrong %s is refused, and the message says what is right',
  async (_what, enqueue, words) => {
    const made = await runJob(
      jobOf((_, ctx) => enqueue(ctx)),
      {},
      { jobs: [shrink] },
    )
    expect(made).toMatchObject({
      state: 'retrying',
      error: { name: 'InvalidRunError' },
      enqueued: [],
    })
    expect(made.error?.message).toMatch(words)
  },
)

test('what runs on after the end of its attempt enqueues and tells nothing', async () => {
  let context: JobContext | undefined
  const made = await runJob(
    jobOf((_, ctx) => {
      context = ctx
      ctx.log.info('done')
    }),
    {},
  )
  await context?.progress('late')
  context?.log.info('late')
  await expect(context?.enqueue(shrink, { url: 'https://a.de', width: 1 })).rejects.toMatchObject({
    name: 'AttemptEndedError',
  })
  expect(made).toMatchObject({ progress: [], enqueued: [], logs: [{ message: 'done' }] })
})

test('a wrong option of the kit itself is named', async () => {
  await expect(runJob(shrink, { url: 'https://a.de', width: 1 }, { attempt: 0 })).rejects.toThrow(
    /options of runJob: attempt \(0\)/,
  )
})
