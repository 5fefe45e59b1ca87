import { DEFAULT_FUSE } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob, describeJob, type JobDefinition, JobDefinitionError } from './index.ts'

const payload = z.object({ tenant: z.string() })

function define(fields: object) {
  const given = { name: 'mail.send', queue: 'mails', payload, handler: () => 'sent', ...fields }
  return defineJob(given as JobDefinition<typeof payload>)
}

test('a backoff is fixed, a list of waits, or doubles; half of each wait is jitter unless it says', () => {
  expect(define({ backoff: { type: 'fixed', delayMs: 500 } }).backoff).toEqual({
    type: 'fixed',
    delayMs: 500,
    jitter: 0.5,
  })
  expect(define({ backoff: { type: 'list', delaysMs: [1, 60_000], jitter: 0 } }).backoff).toEqual({
    type: 'list',
    delaysMs: [1, 60_000],
    jitter: 0,
  })
  expect(define({ backoff: { maxDelayMs: 5_000 } }).backoff).toEqual({
    type: 'exponential',
    delayMs: 1_000,
    maxDelayMs: 5_000,
    jitter: 0.5,
  })
})

test.each([
  [{ type: 'fixed' }, /backoff\.delayMs: .*expected number/],
  [{ type: 'fixed', delayMs: -1 }, /backoff\.delayMs \(-1\): .*>=0/],
  [{ type: 'fixed', delayMs: 1, maxDelayMs: 5 }, /backoff.*Unrecognized key: "maxDelayMs"/],
  [{ type: 'list', delaysMs: [] }, /backoff\.delaysMs: .*>=1 items/],
  [{ type: 'list', delaysMs: [5, 0.5] }, /backoff\.delaysMs\.1 \(0\.5\): .*expected int/],
  [
    { type: 'list', delaysMs: [31 * 86_400_000] },
    /backoff\.delaysMs\.0 \(2678400000\): .*<=2592000000/,
  ],
  [{ type: 'linear' }, /backoff\.type \("linear"\)/],
  [{ jitter: 2 }, /backoff\.jitter \(2\): .*<=1/],
])('a wrong backoff is named with its value and what is right: %j', (backoff, words) => {
  expect(() => define({ backoff })).toThrow(JobDefinitionError)
  expect(() => define({ backoff })).toThrow(words)
})

test('a run whose worker died is made again unless the job says otherwise', () => {
  expect(define({}).onLost).toBe('retry')
  expect(define({ onLost: 'dead-letter' }).onLost).toBe('dead-letter')
})

test('a fuse may name only what differs from the default', () => {
  expect(define({ fuse: { failureRate: 0.9 } }).fuse).toEqual({ ...DEFAULT_FUSE, failureRate: 0.9 })
  expect(define({ fuse: {} }).fuse).toEqual(DEFAULT_FUSE)
  expect(define({}).fuse).toBeUndefined()
})

test.each([
  ['onLost', { onLost: 'forget' }, /onLost \("forget"\): .*"retry"\|"dead-letter"/],
  ['isolate', { isolate: 'vm' }, /isolate \("vm"\): .*"thread"\|"process"/],
  ['memoryMb', { isolate: 'thread', memoryMb: 1 }, /memoryMb \(1\): .*>=16/],
  ['limit', { concurrency: { key: () => '', limit: 0 } }, /concurrency\.limit \(0\): .*>=1/],
  [
    'key',
    { concurrency: { key: 'tenant', limit: 1 } },
    /concurrency\.key \("tenant"\): must be a function/,
  ],
  ['fuse', { fuse: { failureRate: 0 } }, /fuse\.failureRate \(0\): .*>0/],
  ['window', { fuse: { windowMs: 10 } }, /fuse\.windowMs \(10\): .*>=1000/],
])('a wrong %s is named with its value and what is right', (_field, fields, words) => {
  expect(() => define(fields)).toThrow(words)
})

test('a field that is not known is named, with those that are', () => {
  expect(() => define({ timeout: 5_000, retries: 1 })).toThrow(JobDefinitionError)
  expect(() => define({ timeout: 5_000, retries: 1 })).toThrow(
    'job "mail.send": timeout, retries: not known: the fields of a job are name, queue, description, payload, attempts, backoff, timeoutMs, onLost, isolate, memoryMb, concurrency, fuse, searchable, redact, encrypt, retention, handler',
  )
  expect(() => define({ concurrency: { key: () => '', limit: 1, per: 'queue' } })).toThrow(
    /concurrency.*Unrecognized key: "per"/,
  )
  expect(define({ isolate: undefined, memoryMb: undefined }).timeoutMs).toBe(60_000)
})

test('a heap is of a job that is isolated', () => {
  expect(() => define({ memoryMb: 64 })).toThrow(/memoryMb \(64\): goes with isolate only/)
  expect(define({ memoryMb: 64, isolate: 'thread' }).memoryMb).toBe(64)
})

test('the description has every policy, and of a key only its limit', () => {
  const job = define({
    onLost: 'dead-letter',
    isolate: 'process',
    memoryMb: 64,
    concurrency: { key: ({ tenant }: { tenant: string }) => tenant, limit: 2 },
    fuse: {},
    backoff: { type: 'list', delaysMs: [5] },
  })
  expect(describeJob(job)).toMatchObject({
    onLost: 'dead-letter',
    isolate: 'process',
    memoryMb: 64,
    concurrency: { limit: 2 },
    fuse: DEFAULT_FUSE,
    backoff: { type: 'list', delaysMs: [5], jitter: 0.5 },
  })
  expect(job.concurrency?.key({ tenant: 't7' })).toBe('t7')
})
