import { FakeClock } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { instant, rate, wholeNumber } from './values.ts'

const clock = new FakeClock('2026-12-01T12:00:00Z')

test.each([
  ['2026-11-30T08:00:00+07:00', '2026-11-30T01:00:00.000Z'],
  ['2026-11-30 08:00:00Z', '2026-11-30T08:00:00.000Z'],
  ['2h', '2026-12-01T10:00:00.000Z'],
  ['now', '2026-12-01T12:00:00.000Z'],
  ['2026-11-30', new Date(2026, 10, 30).toISOString()],
  ['2026-11-30 08:30', new Date(2026, 10, 30, 8, 30).toISOString()],
])('%s is an instant', (text, iso) => {
  expect(instant(clock, 'past')(text)).toBe(iso)
})

test('a duration is from now where the future is meant', () => {
  expect(instant(clock, 'future')('90s')).toBe('2026-12-01T12:01:30.000Z')
})

test.each(['', 'yesterday', '2026-13-01', '2026-11-30T25:00:00Z', '12:00', '99999999999d'])(
  '%j is no instant',
  (text) => {
    expect(() => instant(clock, 'past')(text)).toThrow('It must be an instant such as')
  },
)

test('numbers have bounds', () => {
  expect(wholeNumber(1, 10)('10')).toBe(10)
  for (const text of ['0', '11', '1.5', '-1', 'x', ''])
    expect(() => wholeNumber(1, 10)(text)).toThrow('from 1 to 10')
  expect(rate('0.5')).toBe(0.5)
  for (const text of ['0', '1001', 'x']) expect(() => rate(text)).toThrow('runs a second')
})
