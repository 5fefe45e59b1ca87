import { DEFAULT_BACKOFF, JobDescription } from '@jadwal/domain'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type AnyJob,
  defineJob,
  describeJob,
  isPermanentError,
  isRetryLaterError,
  PermanentError,
  RetryLaterError,
} from './index.ts'

const payload = z.object({ to: z.email(), retries: z.int().default(1) })

test('a job that says nothing more gets three attempts, the default backoff and 60 s', () => {
  const job = defineJob({ name: 'email.send', queue: 'emails', payload, handler: () => 'sent' })
  expect(job).toMatchObject({ attempts: 3, timeoutMs: 60_000, backoff: DEFAULT_BACKOFF })
})

test('a backoff may name only what differs from the default', () => {
  const job = defineJob({
    name: 'email.send',
    queue: 'emails',
    payload,
    backoff: { delayMs: 5 },
    handler: () => 'sent',
  })
  expect(job.backoff).toEqual({ ...DEFAULT_BACKOFF, delayMs: 5 })
})

test('a handler sees the payload as the schema returns it, and any job is an AnyJob', () => {
  const job = defineJob({
    name: 'email.send',
    queue: 'emails',
    payload,
    handler(parsed) {
      expectTypeOf(parsed).toEqualTypeOf<{ to: string; retries: number }>()
    },
  })
  const jobs: readonly AnyJob[] = [job]
  expect(jobs).toHaveLength(1)
})

test('every wrong field of a definition is named with its value and what is right', () => {
  const wrong = { name: 'Bad Name', queue: 'ticks', payload, attempts: 0, handler: () => 'sent' }
  expect(() => defineJob(wrong)).toThrow(
    /^job "Bad Name": name \("Bad Name"\): must match .*; queue \("ticks"\): is reserved.*; attempts \(0\): .*>=1/,
  )
})

test('a payload that is no schema and a handler that is no function are refused', () => {
  const wrong = { name: 'a', queue: 'b', payload: {}, handler: 'run' }
  const define = () => defineJob(wrong as never)
  expect(define).toThrow(/payload: must be a zod schema/)
  expect(define).toThrow(/handler \("run"\): must be a function/)
})

test('a description carries the JSON Schema of what may be sent, defaults left out', () => {
  const job = defineJob({ name: 'email.send', queue: 'emails', payload, handler: () => 'sent' })
  const description = JobDescription.parse(JSON.parse(JSON.stringify(describeJob(job))))
  expect(description.payloadSchema).toMatchObject({ type: 'object', required: ['to'] })
})

test('a schema that JSON Schema cannot express is described as anything', () => {
  const job = defineJob({
    name: 'a',
    queue: 'b',
    payload: z.object({ at: z.date() }),
    handler: () => 'done',
  })
  expect(describeJob(job).payloadSchema).toMatchObject({ properties: { at: {} } })
})

test('errors of another copy of the sdk are recognised by their name', () => {
  const copy = Object.assign(new Error('x'), { name: 'RetryLaterError', delayMs: 5 })
  const broken = Object.assign(new Error('x'), { name: 'RetryLaterError' })
  expect(isRetryLaterError(copy)).toBe(true)
  expect(isRetryLaterError(broken)).toBe(false)
  expect(isRetryLaterError(new RetryLaterError(5))).toBe(true)
  expect(isPermanentError(Object.assign(new Error('x'), { name: 'PermanentError' }))).toBe(true)
  expect(isPermanentError(new Error('x'))).toBe(false)
})

test('what cannot be looked at is no error of the sdk', () => {
  const hostile = [
    Object.defineProperty(new Error('x'), 'name', { get }),
    Object.defineProperty(new RetryLaterError(5), 'delayMs', { get }),
    new Proxy(new Error('x'), { get, getPrototypeOf: get }),
  ]
  for (const error of hostile) {
    expect(isPermanentError(error)).toBe(false)
    expect(isRetryLaterError(error)).toBe(false)
  }
})

test('a permanent error keeps its cause', () => {
  const cause = new Error('why')
  expect(new PermanentError('no use', { cause }).cause).toBe(cause)
})

function get(): never {
  throw new Error('trap')
}
