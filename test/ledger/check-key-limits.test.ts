import { expect, test } from 'vitest'
import { type KeySpan, mostAtOnce } from './check-key-limits.ts'

const span = (key: string, fromMs: number, untilMs: number): KeySpan => ({
  key,
  runId: `${key} ${fromMs}`,
  attempt: 1,
  fromMs,
  untilMs,
})

test('counts for each key the most runs that were executed at once', () => {
  expect(
    mostAtOnce([
      span('a', 0, 10),
      span('a', 5, 15),
      span('a', 9, 20),
      span('a', 30, 40),
      span('b', 0, 10),
      span('b', 10, 20),
    ]),
  ).toEqual({ a: 3, b: 1 })
  expect(mostAtOnce([])).toEqual({})
})
