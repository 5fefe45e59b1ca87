import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { rateLimitedErrors, rateLimitedWarnings } from './rate-limited-errors.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function setup() {
  const lines: { msg: string; count?: number }[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { lines, log, failed: rateLimitedErrors(log, 'redis connection failed') }
}

test('the first error is logged at once, a storm after it as one line each 10 s', () => {
  const { lines, failed } = setup()
  failed(new Error('ECONNREFUSED'))
  expect(lines).toHaveLength(1)
  for (let i = 0; i < 1_000; i += 1) failed(new Error('ECONNREFUSED'))
  expect(lines).toHaveLength(1)
  vi.advanceTimersByTime(10_000)
  expect(lines[1]).toMatchObject({ msg: 'redis connection failed', count: 1_000 })
})

test('after a quiet time the next error is a first one again', () => {
  const { lines, failed } = setup()
  failed(new Error('one'))
  vi.advanceTimersByTime(10_000)
  failed(new Error('two'))
  expect(lines).toHaveLength(2)
})

test('the line of a storm of other warnings has the facts of the last one', () => {
  const { lines, log } = setup()
  const warn = rateLimitedWarnings(log, 'request answered with an error')
  for (const path of ['/first', '/second', '/third']) warn({ path })
  vi.advanceTimersByTime(10_000)
  expect(lines).toEqual([
    expect.objectContaining({ msg: 'request answered with an error', path: '/first' }),
    expect.objectContaining({ path: '/third', count: 2, withinMs: 10_000 }),
  ])
})
