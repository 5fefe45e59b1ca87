import { expect, test } from 'vitest'
import { Duration, formatDuration, parseDurationMs } from './duration.ts'

test.each([
  ['250ms', 250],
  ['90s', 90_000],
  ['10m', 600_000],
  ['6h', 21_600_000],
  ['1d', 86_400_000],
  ['0s', 0],
])('%s is %i ms', (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms)
  expect(Duration.parse(text)).toBe(ms)
})

test.each(['', '90', '1.5h', '-1s', '1 h', '1w', 's'])('%j is no duration', (text) => {
  expect(parseDurationMs(text)).toBeUndefined()
})

test.each([['ten'], [90], ['99999999999999999d']])(
  'a schema refuses %j and says what to write',
  (value) => {
    expect(Duration.safeParse(value).error?.issues[0]?.message).toBe(
      'is no duration: write a whole number and ms, s, m, h or d, for example 90s',
    )
  },
)

test.each([
  [90_000, '90s'],
  [3_600_000, '1h'],
  [172_800_000, '2d'],
  [600_000, '10m'],
  [1_500, '1500ms'],
  [0, '0ms'],
])('%i ms are written %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})
