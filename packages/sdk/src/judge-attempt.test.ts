import type { Backoff } from '@jadwal/domain'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { AnyJob } from './job.ts'
import { judgeAttempt } from './judge-attempt.ts'

const policy = fc.record({
  attempts: fc.integer({ min: 1, max: 30 }),
  delayMs: fc.integer({ min: 0, max: 10_000 }),
  maxDelayMs: fc.integer({ min: 0, max: 100_000 }),
  jitter: fc.float({ min: 0, max: 1, noNaN: true }),
})

function jobOf({
  attempts,
  ...backoff
}: {
  attempts: number
  delayMs: number
  maxDelayMs: number
  jitter: number
}): AnyJob {
  return {
    name: 'fails',
    queue: 'tests',
    payload: z.unknown(),
    attempts,
    backoff: { type: 'exponential', ...backoff },
    timeoutMs: 1_000,
    onLost: 'retry',
    handler: () => undefined,
  }
}

function fail(job: AnyJob, failures: number, { random = 0.5, error = new Error('no') } = {}) {
  const run = { failures, message: { v: 1 as const, payload: null } }
  return judgeAttempt({ run, job }, { kind: 'threw', error }, random)
}

test('a job that always fails makes exactly its attempts and then dies', () => {
  fc.assert(
    fc.property(policy, (given) => {
      const job = jobOf(given)
      const ends = Array.from({ length: job.attempts }, (_, failures) => fail(job, failures).kind)
      expect(ends).toEqual([...Array<string>(job.attempts - 1).fill('retry'), 'dead'])
    }),
  )
})

test('waits double up to the cap, and jitter only ever shortens its part of them', () => {
  const random = fc.float({ min: 0, max: Math.fround(0.999), noNaN: true })
  fc.assert(
    fc.property(policy, random, fc.nat({ max: 28 }), (given, drawn, failures) => {
      const job = jobOf({ ...given, attempts: 1_000 })
      const end = fail(job, failures, { random: drawn })
      if (end.kind !== 'retry') throw new Error(end.kind)
      const longest = Math.min(given.delayMs * 2 ** failures, given.maxDelayMs)
      expect(end.delayMs).toBeLessThanOrEqual(longest)
      expect(end.delayMs).toBeGreaterThanOrEqual(Math.floor(longest * (1 - given.jitter)))
      expect(Number.isInteger(end.delayMs)).toBe(true)
    }),
  )
})

test.each<[string, Backoff, number[]]>([
  ['fixed', { type: 'fixed', delayMs: 700, jitter: 0.2 }, [700, 700, 700, 700]],
  ['listed', { type: 'list', delaysMs: [10, 500], jitter: 0.2 }, [10, 500, 500, 500]],
])('a run with %s waits is retried after at most what is stated', (_kind, backoff, stated) => {
  const job = { ...jobOf({ attempts: 5, delayMs: 1, maxDelayMs: 1, jitter: 0 }), backoff }
  const waits = (random: number) =>
    stated.map((_, failures) => {
      const end = fail(job, failures, { random })
      return end.kind === 'retry' ? end.delayMs : end.kind
    })
  expect(waits(0)).toEqual(stated)
  expect(waits(0.5)).toEqual(stated.map((wait) => wait * 0.9))
  expect(fail(job, 4)).toMatchObject({ kind: 'dead', reason: 'failed' })
})

test('the delay of a RetryLaterError is bounded, and a broken one falls back to the backoff', () => {
  const job = jobOf({ attempts: 5, delayMs: 100, maxDelayMs: 100, jitter: 0 })
  expect(fail(job, 0, { error: later(7_000.4) })).toMatchObject({ delayMs: 7_000 })
  expect(fail(job, 0, { error: later(1e15) })).toMatchObject({ delayMs: 30 * 24 * 3_600_000 })
  for (const broken of [Number.NaN, -1, 'soon', undefined]) {
    expect(fail(job, 0, { error: later(broken) })).toMatchObject({ kind: 'retry', delayMs: 100 })
  }
})

test('an error that throws when it is looked at fails its attempt like any other', () => {
  const job = jobOf({ attempts: 5, delayMs: 100, maxDelayMs: 100, jitter: 0 })
  const answersOnce = later(7)
  let answers = 0
  Object.defineProperty(answersOnce, 'delayMs', { get: () => (answers++ === 0 ? 7 : get()) })
  const errors = [new Proxy(new Error('x'), { get, getPrototypeOf: get }), answersOnce]
  for (const error of errors) {
    expect(fail(job, 0, { error })).toMatchObject({ kind: 'retry', delayMs: 100 })
  }
})

test('a RetryLaterError uses an attempt like any failure', () => {
  const job = jobOf({ attempts: 2, delayMs: 100, maxDelayMs: 100, jitter: 0 })
  const error = later(1)
  expect(fail(job, 1, { error })).toMatchObject({ kind: 'dead', reason: 'failed' })
})

function later(delayMs: unknown): Error {
  return Object.assign(new Error('later'), { name: 'RetryLaterError', delayMs })
}

function get(): never {
  throw new Error('trap')
}

test('a cancelled attempt ends its run as cancelled, and tells of a handler that went on', () => {
  const job = jobOf({ attempts: 5, delayMs: 100, maxDelayMs: 100, jitter: 0 })
  const run = { failures: 0, message: { v: 1 as const, payload: null } }
  const judged = (reason: 'cancelled' | 'superseded', abandoned: boolean) =>
    judgeAttempt({ run, job }, { kind: 'cancelled', reason, abandoned }, 0.5)
  expect(judged('superseded', false)).toEqual({ kind: 'cancelled', reason: 'superseded' })
  expect(judged('cancelled', true)).toEqual({
    kind: 'cancelled',
    reason: 'cancelled',
    error: {
      name: 'AbandonedError',
      code: 'ABANDONED',
      message: expect.stringContaining('did not heed its signal'),
    },
  })
})
