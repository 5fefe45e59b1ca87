import type { StartedRun } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import type { AnyJob, JobContext } from '@jadwal/sdk'
import { Attempt, type ChildOutlet } from '@jadwal/sdk/attempts'
import { eventually, FakeClock } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { AttemptsInHand } from './attempts-in-hand.ts'

const GRACE_MS = 5_000
const log = createLogger('worker', 'silent', 'test')
const clock = new FakeClock()
const children: ChildOutlet = { find: async () => undefined, send: async () => [] }

/** A job whose handler ends when the test says so, and what it was given. */
function openJob() {
  const contexts: JobContext[] = []
  const ends: { resolve: (value: unknown) => void; reject: (error: unknown) => void }[] = []
  const job: AnyJob = {
    name: 'report',
    queue: 'reports',
    payload: z.unknown(),
    attempts: 3,
    backoff: { type: 'exponential', delayMs: 1, maxDelayMs: 1, jitter: 0 },
    timeoutMs: 60_000,
    onLost: 'retry',
    handler: (_, context) => {
      contexts.push(context)
      return new Promise((resolve, reject) => void ends.push({ resolve, reject }))
    },
  }
  return { job, contexts, ends }
}

function runOf(id: string): StartedRun {
  const run = { id, attempt: 1, message: { v: 1, payload: {} } }
  return run as Partial<StartedRun> as StartedRun
}

/** An attempt under way since the instant 0. */
function setup() {
  const { job, contexts, ends } = openJob()
  const attempt = new Attempt({
    run: runOf('r1'),
    job,
    log,
    clock,
    children,
    mask: undefined,
    startedMs: 0,
  })
  const end = attempt.call({})
  return {
    attempt,
    end,
    signal: () => contexts[0]?.signal,
    resolve: (value: unknown) => ends[0]?.resolve(value),
    reject: (error: unknown) => ends[0]?.reject(error),
  }
}

test.each([
  ['cancelled', 'the run was cancelled'],
  ['superseded', 'a later run of the schedule takes its place'],
] as const)('the signal of a run that is %s tells why', (reason, words) => {
  const { attempt, signal } = setup()
  const early = signal()
  expect(early?.aborted).toBe(false)
  attempt.interrupt(reason, 1_000)
  expect(early?.aborted).toBe(true)
  expect(early?.reason).toMatchObject({ name: 'AbortError', message: words })
})

test('a handler that asks for its signal only after the cancel finds it aborted', () => {
  const { attempt, signal } = setup()
  attempt.interrupt('cancelled', 1_000)
  expect(signal()?.aborted).toBe(true)
})

test('however a handler ends after the cancel, its run is cancelled', async () => {
  const returns = setup()
  returns.attempt.interrupt('cancelled', 1_000)
  returns.resolve('done all the same')
  const throws = setup()
  throws.attempt.interrupt('superseded', 1_000)
  throws.reject(new Error('aborted'))
  expect(await returns.end).toEqual({ kind: 'cancelled', reason: 'cancelled', abandoned: false })
  expect(await throws.end).toEqual({ kind: 'cancelled', reason: 'superseded', abandoned: false })
})

test('a handler that does not heed its signal is abandoned after its grace, and what it returns later is not asked for', async () => {
  const { attempt, end, resolve } = setup()
  attempt.interrupt('cancelled', 1_000)
  expect(attempt.check(1_000 + GRACE_MS - 1)).toBe(1_000 + GRACE_MS)
  attempt.check(1_000 + GRACE_MS)
  resolve('too late')
  expect(await end).toEqual({ kind: 'cancelled', reason: 'cancelled', abandoned: true })
})

test('a handler that outlives its timeout and the grace is recorded as abandoned', async () => {
  const { attempt, end, resolve } = setup()
  attempt.check(60_000)
  attempt.check(60_000 + GRACE_MS)
  resolve('too late')
  expect(await end).toMatchObject({
    kind: 'threw',
    error: {
      name: 'AbandonedError',
      code: 'ABANDONED',
      message: expect.stringContaining('timeout of 60000 ms'),
    },
  })
  const heeds = setup()
  heeds.attempt.check(60_000)
  heeds.reject(new Error('aborted'))
  expect(await heeds.end).toMatchObject({ kind: 'threw', error: { name: 'TimeoutError' } })
})

test('a worker that stops does not wait out the grace that an earlier interruption gave', async () => {
  const { attempt, end } = setup()
  attempt.interrupt('cancelled', 1_000)
  attempt.interrupt('stop', 2_000)
  attempt.check(3_000)
  expect(await end).toEqual({ kind: 'cancelled', reason: 'cancelled', abandoned: true })
})

test('an abandoned handler is counted until it ends', async () => {
  const attempts = new AttemptsInHand({ clock, log, children })
  const { job, ends } = openJob()
  const made = attempts.make(runOf('r1'), job, { payload: {}, mask: undefined })
  attempts.stop()
  clock.advance(1_000)
  expect(await made).toEqual({ kind: 'drained' })
  expect(attempts).toMatchObject({ size: 0, abandoned: 1 })
  ends[0]?.resolve('late')
  await eventually(() => expect(attempts.abandoned).toBe(0))
})

test('a second cancel gives no further grace, and the first reason stays', async () => {
  const { attempt, end } = setup()
  attempt.interrupt('superseded', 1_000)
  attempt.interrupt('cancelled', 4_000)
  attempt.check(1_000 + GRACE_MS)
  expect(await end).toEqual({ kind: 'cancelled', reason: 'superseded', abandoned: true })
})

test('a run that was lost to another worker is lost, cancelled or not', async () => {
  const { attempt, end, resolve } = setup()
  attempt.interrupt('cancelled', 1_000)
  attempt.interrupt('lost', 2_000)
  resolve('done')
  expect(await end).toEqual({ kind: 'lost' })
})

test('of the attempts in hand those are cancelled that are marked', async () => {
  const attempts = new AttemptsInHand({ clock: new FakeClock(), log, children })
  const { job, contexts, ends } = openJob()
  const made = ['r1', 'r2'].map((id) =>
    attempts.make(runOf(id), job, { payload: {}, mask: undefined }),
  )
  attempts.cancel(
    new Map([
      ['r2', 'cancelled'],
      ['of another worker', 'cancelled'],
    ]),
  )
  expect(contexts.map(({ runId, signal }) => [runId, signal.aborted])).toEqual([
    ['r1', false],
    ['r2', true],
  ])
  for (const end of ends) end.resolve('done')
  expect(await Promise.all(made)).toEqual([
    { kind: 'returned', value: 'done' },
    { kind: 'cancelled', reason: 'cancelled', abandoned: false },
  ])
})
