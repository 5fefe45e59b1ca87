import { expect, test } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const now = new Date('2026-09-01T10:00:00Z')

test('seconds and dates are both understood', () => {
  expect(retryAfterMs('120', now)).toBe(120_000)
  expect(retryAfterMs('Tue, 01 Sep 2026 10:00:30 GMT', now)).toBe(30_000)
})

test('nobody waits longer than an hour, nor less than nothing', () => {
  expect(retryAfterMs('999999', now)).toBe(3_600_000)
  expect(retryAfterMs('Fri, 01 Jan 2027 00:00:00 GMT', now)).toBe(3_600_000)
  expect(retryAfterMs('Tue, 01 Sep 2026 09:00:00 GMT', now)).toBe(0)
})

test.each(['soon', '-5', '1.5', '', 'Nonsense, 99 Foo 2026'])(
  '%j says nothing about when',
  (header) => expect(retryAfterMs(header, now)).toBeUndefined(),
)

test('without a header there is no wait to keep', () => {
  expect(retryAfterMs(undefined, now)).toBeUndefined()
})
