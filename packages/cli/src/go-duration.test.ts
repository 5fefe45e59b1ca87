import { expect, test } from 'vitest'
import { goDurationMs } from './go-duration.ts'

test.each([
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['90s', 90_000],
  ['1m0.5s', 60_500],
  ['250ms', 250],
  ['1500us', 1.5],
  ['.5s', 500],
  ['', undefined],
  ['90', undefined],
  ['1 h', undefined],
  ['1d', undefined],
  ['-5m', undefined],
])('%j is %s ms', (text, ms) => {
  expect(goDurationMs(text)).toBe(ms)
})
