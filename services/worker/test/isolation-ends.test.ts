import { ChildProcess } from 'node:child_process'
import { eventually } from '@jadwal/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openIsolation } from './open-isolation.ts'

const BOTH = ['thread', 'process'] as const

test.each(BOTH)('the signal of a handler in a %s tells why it aborts', async (isolate) => {
  await using isolation = openIsolation(isolate)
  const { make, attempts } = isolation
  const late = await make('tells-why', {}, { timeoutMs: 100 })
  expect(late).toMatchObject({
    kind: 'threw',
    error: { name: 'TimeoutError' },
    log: [
      {
        message: 'why',
        facts: { reason: 'TimeoutError: took longer than its timeout of 100 ms', timeoutMs: 100 },
      },
    ],
  })
  const cancelled = make('tells-why')
  await eventually(() => expect(attempts.size).toBe(1))
  attempts.cancel(new Map([['run-2', 'cancelled']]))
  expect(await cancelled).toMatchObject({
    kind: 'cancelled',
    abandoned: false,
    log: [{ facts: { reason: 'AbortError: the run was cancelled' } }],
  })
  // Who heeds its signal keeps its child.
  expect(isolation.pool.count(isolate)).toBe(1)
})

test.each(BOTH)('an endless loop in a %s ends with its timeout', async (isolate) => {
  await using isolation = openIsolation(isolate)
  const end = await isolation.make('loops', {}, { timeoutMs: 100 })
  expect(end).toMatchObject({
    kind: 'threw',
    error: { name: 'TimeoutError' },
    log: [{ level: 'warn', message: expect.stringContaining('its child is killed') as string }],
  })
  expect(isolation.pool.count(isolate)).toBe(0)
})

test.each(BOTH)(
  'an endless loop in a %s ends when its run is cancelled or lost',
  async (isolate) => {
    await using isolation = openIsolation(isolate)
    const { make, attempts } = isolation
    await Promise.all([make('nothing'), make('nothing')])
    const ends = Promise.all([make('loops'), make('loops')])
    await eventually(() => expect(attempts.size).toBe(2))
    attempts.cancel(new Map([['run-3', 'cancelled']]))
    attempts.lose(['run-4'])
    expect(await ends).toMatchObject([{ kind: 'cancelled', abandoned: false }, { kind: 'lost' }])
    await eventually(() => expect(isolation.pool.count(isolate)).toBe(0))
  },
)

test.each(BOTH)(
  'when its worker stops, a loop in a %s is ended and its run put back',
  async (isolate) => {
    await using isolation = openIsolation(isolate)
    const { make, attempts } = isolation
    await make('nothing')
    const looping = make('loops')
    await eventually(() => expect(attempts.size).toBe(1))
    attempts.stop()
    expect(await looping).toMatchObject({ kind: 'drained' })
  },
)

test.each(BOTH)(
  'a stop while a loop in a %s is past its timeout brings its end forward, and abandons nothing',
  async (isolate) => {
    await using isolation = openIsolation(isolate)
    const { make, attempts } = isolation
    await make('nothing')
    const looping = make('loops', {}, { timeoutMs: 50 })
    await eventually(() => expect([...attempts][0]?.signal.aborted).toBe(true))
    attempts.stop()
    expect(await looping).toMatchObject({ kind: 'threw', error: { name: 'TimeoutError' } })
    expect(attempts.abandoned).toBe(0)
  },
)

test.each(BOTH)('a pool is closed once each %s has ended, idle or not', async (isolate) => {
  const { make, pool } = openIsolation(isolate)
  await make('nothing')
  const looping = make('loops')
  await make('nothing')
  expect(pool.count(isolate)).toBe(2)
  await pool.close()
  expect(pool.count(isolate)).toBe(0)
  expect(await looping).toMatchObject({ kind: 'threw', error: { name: 'ChildError' } })
})

test('a kill that the system refuses, again and again, is no uncaught error', async () => {
  await using isolation = openIsolation('process')
  await isolation.make('nothing')
  const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockImplementation(refuse)
  onTestFinished(() => kill.mockRestore())
  for (let i = 0; i < 2; i += 1) await isolation.pool.close()
  expect(kill.mock.calls.length).toBeGreaterThan(1)
  kill.mockRestore()
  await isolation.pool.close()
  expect(isolation.pool.count('process')).toBe(0)
})

/** As Node does when the system says EPERM. */
function refuse(this: ChildProcess): boolean {
  this.emit('error', new Error('kill EPERM'))
  return false
}

test.each(BOTH)(
  'a %s is kept for the next attempt, and each at once has its own',
  async (isolate) => {
    await using isolation = openIsolation(isolate)
    const { make, pool } = isolation
    const first = await make('where')
    expect(await make('where')).toEqual(first)
    const [one, two] = await Promise.all([make('where'), make('where')])
    expect(one).not.toEqual(two)
    expect(pool.count(isolate)).toBe(2)
    // One with another limit is another kind.
    await make('where', {}, { memoryMb: 64 })
    expect(pool.count(isolate)).toBe(3)
  },
)

test.each(BOTH)('a %s ends after idling, and after its share of attempts', async (isolate) => {
  await using isolation = openIsolation(isolate, { mostAttempts: 2 })
  const first = await isolation.make('where')
  expect(await isolation.make('where')).toEqual(first)
  expect(await isolation.make('where')).not.toEqual(first)
  await using idling = openIsolation(isolate, { idleMs: 100 })
  await idling.make('where')
  await eventually(() => expect(idling.pool.count(isolate)).toBe(0))
})

test.each(BOTH)('an attempt fails when its %s can not be started', async (isolate) => {
  await using broken = openIsolation(isolate, { jobs: 'broken-jobs.mjs' })
  const { error } = (await broken.make('nothing')) as unknown as { error: Error }
  expect(error).toMatchObject({ name: 'ChildError', code: 'CHILD_NOT_STARTED' })
  expect(error.message).toMatch(/could not be started: not in a child$/)
  await using slow = openIsolation(isolate, {
    jobs: 'slow-jobs.mjs',
    env: { SLOW_MS: '60000' },
    startWithinMs: 200,
  })
  expect(await slow.make('nothing')).toMatchObject({
    error: { code: 'CHILD_NOT_STARTED', message: expect.stringContaining('200 ms') as string },
  })
  await eventually(() => expect(slow.pool.count(isolate)).toBe(0))
})

test.each(BOTH)('the start of a %s takes nothing of the time of its handler', async (isolate) => {
  await using isolation = openIsolation(isolate, {
    jobs: 'slow-jobs.mjs',
    env: { SLOW_MS: '3000' },
  })
  expect(await isolation.make('nothing', {}, { timeoutMs: 2_000 })).toMatchObject({
    kind: 'returned',
  })
  const end = await isolation.make('polite', {}, { timeoutMs: 50, memoryMb: 64 })
  expect(end).toMatchObject({ error: { name: 'TimeoutError' } })
})

test.each(BOTH)(
  'a run that is cancelled while its %s starts does not wait for that',
  async (isolate) => {
    await using isolation = openIsolation(isolate, {
      jobs: 'slow-jobs.mjs',
      env: { SLOW_MS: '60000' },
    })
    const { make, attempts, pool } = isolation
    const starting = make('nothing')
    await eventually(() => expect(pool.count(isolate)).toBe(1))
    attempts.cancel(new Map([['run-1', 'cancelled']]))
    expect(await starting).toMatchObject({ kind: 'cancelled' })
  },
)

test.each(BOTH)(
  'the heap of a %s is limited, to 512 MiB if its job says nothing',
  async (isolate) => {
    await using isolation = openIsolation(isolate)
    const limitMb = async (more: object): Promise<number> => {
      const { value } = (await isolation.make('heap', {}, more)) as unknown as {
        value: { limitMb: number }
      }
      return value.limitMb
    }
    // The limit of a process has its young generation on top.
    const unspecified = await limitMb({})
    expect(unspecified).toBeGreaterThanOrEqual(512)
    expect(unspecified).toBeLessThan(512 + 64)
    const named = await limitMb({ memoryMb: 96 })
    expect(named).toBeGreaterThanOrEqual(96)
    expect(named).toBeLessThan(96 + 64)
  },
)

test.each(BOTH)('a secret of a payload reaches its %s over the channel alone', async (isolate) => {
  await using isolation = openIsolation(isolate)
  const key = 'a-secret-of-the-payload'
  expect(await isolation.make('secret', { key })).toMatchObject({
    value: { length: key.length, seen: false },
  })
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const)(
  '%s of the process group is for the worker, not for its child processes',
  async (signal) => {
    await using isolation = openIsolation('process')
    expect(await isolation.make('kills', { signal })).toMatchObject({
      kind: 'returned',
      value: true,
    })
  },
)
