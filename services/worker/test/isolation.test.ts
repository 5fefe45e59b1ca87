import { afterAll, expect, test } from 'vitest'
import { openIsolation } from './open-isolation.ts'

const BOTH = ['thread', 'process'] as const
/** For tests whose children live on. */
const shared = { thread: openIsolation('thread'), process: openIsolation('process') }
afterAll(() => Promise.all(BOTH.map((isolate) => shared[isolate][Symbol.asyncDispose]())))

test('a thread makes the attempt in this process, a process in one of its own', async () => {
  expect(await shared.thread.make('where')).toMatchObject({
    value: { pid: process.pid, isMainThread: false },
  })
  const { value } = (await shared.process.make('where')) as unknown as { value: { pid: number } }
  expect(value).toMatchObject({ isMainThread: true })
  expect(value.pid).not.toBe(process.pid)
})

test.each(BOTH)('a handler in a %s has the whole context and payload', async (isolate) => {
  const { make } = shared[isolate]
  const payload = {
    at: new Date('2026-02-03T04:05:06Z'),
    map: new Map([['key', 'value']]),
    bytes: new Uint8Array(3),
  }
  const schedule = { name: 'nightly', tickAt: Date.parse('2026-01-01T00:00:00Z') }
  const end = await make('context', payload, { message: { schedule, parentId: 'run-0' } })
  expect(end).toMatchObject({
    kind: 'returned',
    value: {
      runId: expect.stringMatching(/^run-/) as string,
      attempt: 1,
      tickAt: '2026-01-01T00:00:00.000Z',
      schedule: 'nightly',
      parentId: 'run-0',
      aborted: false,
      year: 2026,
      fromMap: 'value',
      bytes: 3,
    },
  })
})

test.each(BOTH)('what a handler in a %s returns is JSON, bounded', async (isolate) => {
  const { make } = shared[isolate]
  expect(await make('nothing')).toMatchObject({ kind: 'returned', value: undefined })
  expect(await make('circular')).toMatchObject({
    value: { unserialisable: expect.stringContaining('circular') as string },
  })
  expect(await make('huge-result')).toMatchObject({ value: { truncated: true, length: 2097154 } })
})

test.each(BOTH)('lines that are logged in a %s are lines of the attempt', async (isolate) => {
  const { make } = shared[isolate]
  const { log } = await make('logs')
  expect(log).toMatchObject([
    { level: 'debug', message: 'a sentence' },
    { level: 'info', message: 'can not be said in JSON', facts: { unserialisable: true } },
    {
      level: 'warn',
      message: 'facts',
      facts: { n: 1, err: { name: 'TypeError', message: 'odd' } },
    },
    { level: 'error', facts: { err: { name: 'Error', message: 'alone' } } },
  ])
})

test.each(BOTH)('progress in a %s is that of the run, and fails as it does', async (isolate) => {
  const { make, progress } = shared[isolate]
  expect(await make('progresses')).toMatchObject({ kind: 'returned' })
  expect(progress).toEqual([{ step: 1 }, undefined])
  expect(await make('progress-fails')).toMatchObject({
    kind: 'threw',
    error: { message: 'refused' },
  })
})

test.each(BOTH)('progress in a %s that JSON cannot say becomes a note', async (isolate) => {
  const { make, progress } = shared[isolate]
  const before = progress.length
  expect(await make('progress-circular')).toMatchObject({ kind: 'returned', value: 'made' })
  expect(progress.slice(before)).toEqual([
    { unserialisable: expect.stringContaining('circular') as string },
    { unserialisable: expect.stringContaining('BigInt') as string },
  ])
})

test.each(BOTH)('a handler in a %s enqueues runs that have its run as parent', async (isolate) => {
  const { make, sent } = shared[isolate]
  expect(await make('enqueues')).toMatchObject({ value: ['typed-0', 'named-0', 'named-1'] })
  const options = { parentId: expect.stringMatching(/^run-/) as string }
  expect(sent).toMatchObject([
    {
      job: { name: 'typed', queue: 'others' },
      payloads: [{ n: 1 }],
      options: { ...options, delayMs: 5, runAt: new Date(0), idempotencyKeys: ['once'] },
    },
    { job: { name: 'named', queue: 'queue-of-named' }, payloads: [{ a: 1 }, { a: 2 }], options },
  ])
  expect(await make('enqueues-wrong')).toMatchObject({
    kind: 'threw',
    error: { name: 'InvalidRunError' },
  })
  expect(sent).toHaveLength(2)
})

test.each(BOTH)('what a handler in a %s throws keeps what it says', async (isolate) => {
  const { make } = shared[isolate]
  expect(await make('throws')).toMatchObject({
    kind: 'threw',
    error: {
      name: 'RangeError',
      message: 'out of range',
      code: 'E_RANGE',
      stack: expect.stringContaining('isolated-jobs.mjs') as string,
      cause: { message: 'the cause' },
    },
  })
  expect(await make('throws-text')).toMatchObject({ kind: 'threw', error: 'a text' })
  expect(await make('permanent')).toMatchObject({ error: { name: 'PermanentError' } })
  expect(await make('later')).toMatchObject({ error: { name: 'RetryLaterError', delayMs: 700 } })
})

test.each(BOTH)('a payload that can not be cloned for a %s fails for good', async (isolate) => {
  const { make } = shared[isolate]
  expect(await make('nothing', { call: () => 1 })).toMatchObject({
    error: {
      name: 'PermanentError',
      message: expect.stringContaining(
        'the payload of nothing must be what can be cloned',
      ) as string,
    },
  })
})

test.each(BOTH)('an error that nobody catches in a %s fails its attempt alone', async (isolate) => {
  await using isolation = openIsolation(isolate)
  const { make } = isolation
  const error = { name: 'RangeError', message: 'outside of any promise' }
  expect(await make('uncaught')).toMatchObject({ kind: 'threw', error })
  expect(await make('unhandled')).toMatchObject({ kind: 'threw', error })
  expect(await make('nothing')).toMatchObject({ kind: 'returned' })
})

test.each([
  ['thread', 'the thread of the attempt ended with exit code 3 before the handler did'],
  ['process', 'the child process of the attempt ended with exit code 3 before the handler did'],
] as const)('process.exit in a %s fails its attempt alone', async (isolate, message) => {
  await using isolation = openIsolation(isolate)
  const { make } = isolation
  expect(await make('exits')).toMatchObject({
    kind: 'threw',
    error: { name: 'ChildError', code: 'CHILD_EXITED', message },
  })
  expect(await make('nothing')).toMatchObject({ kind: 'returned' })
})

test.each(['SIGSEGV', 'SIGKILL'] as const)(
  '%s of a process fails its attempt alone',
  async (signal) => {
    await using isolation = openIsolation('process')
    const { make } = isolation
    expect(await make('kills', { signal })).toMatchObject({
      kind: 'threw',
      error: {
        name: 'ChildError',
        code: 'CHILD_KILLED',
        message: expect.stringContaining(`was killed by ${signal}`) as string,
      },
    })
    expect(await make('nothing')).toMatchObject({ kind: 'returned' })
  },
)

test.each(BOTH)(
  'a %s that needs more memory than its limit fails its attempt alone',
  async (isolate) => {
    await using isolation = openIsolation(isolate)
    const { make } = isolation
    expect(await make('eats', {}, { memoryMb: 48 })).toMatchObject({
      kind: 'threw',
      error: {
        name: 'ChildError',
        code: 'CHILD_OUT_OF_MEMORY',
        message: expect.stringContaining('memoryMb = 48 MiB') as string,
      },
    })
    expect(await make('nothing', {}, { memoryMb: 48 })).toMatchObject({ kind: 'returned' })
  },
)

test.each(BOTH)('while a handler blocks its %s the worker goes on', async (isolate) => {
  const { make } = shared[isolate]
  await make('nothing')
  const blocking = make('blocks', { ms: 1_000 })
  let ticks = 0
  const ticking = setInterval(() => {
    ticks += 1
  }, 10)
  expect(await blocking).toMatchObject({ value: 'done' })
  clearInterval(ticking)
  expect(ticks).toBeGreaterThan(10)
})
