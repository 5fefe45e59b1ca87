import { expect, test } from 'vitest'
import { parseCadenceKey } from './cadence.ts'
import { nextTick } from './next-tick.ts'

interface Rule {
  timezone?: string
  gap?: 'shift' | 'skip'
  fold?: 'once' | 'twice'
}

/** Ticks of an expression after an instant, as ISO texts without the `:00.000Z` that all of them share. */
function ticks(expression: string, after: string, rule: Rule & { count?: number } = {}): string[] {
  const { timezone = 'America/New_York', gap = 'shift', fold = 'once', count = 3 } = rule
  const found: string[] = []
  let at: number | undefined = Date.parse(after)
  while (found.length < count) {
    at = nextTick({ kind: 'cron', expression, timezone, gap, fold }, at)
    if (at === undefined) break
    found.push(new Date(at).toISOString().replace(':00.000Z', ''))
  }
  return found
}

test('a wall time in the gap is read with the offset before it', () => {
  // New York 2026-03-08: 02:00 EST becomes 03:00 EDT at 07:00Z.
  expect(ticks('30 2 * * *', '2026-03-07T12:00Z')).toEqual([
    '2026-03-08T07:30',
    '2026-03-09T06:30',
    '2026-03-10T06:30',
  ])
})

test('a wall time in the gap is left out under skip', () => {
  expect(ticks('30 2 * * *', '2026-03-07T12:00Z', { gap: 'skip' })[0]).toBe('2026-03-09T06:30')
})

test('two wall times that meet behind the gap are one tick, and ticks stay in order', () => {
  expect(ticks('0,30 2,3 * * *', '2026-03-08T06:00Z', { count: 4 })).toEqual([
    '2026-03-08T07:00',
    '2026-03-08T07:30',
    '2026-03-09T06:00',
    '2026-03-09T06:30',
  ])
})

test('a wall time that comes twice fires at the first, or at both', () => {
  // New York 2026-11-01: 02:00 EDT becomes 01:00 EST at 06:00Z.
  expect(ticks('30 1 * * *', '2026-11-01T00:00Z', { count: 2 })).toEqual([
    '2026-11-01T05:30',
    '2026-11-02T06:30',
  ])
  expect(ticks('30 1 * * *', '2026-11-01T00:00Z', { fold: 'twice', count: 3 })).toEqual([
    '2026-11-01T05:30',
    '2026-11-01T06:30',
    '2026-11-02T06:30',
  ])
})

test('an hour field that begins with * follows real time through gap and fold', () => {
  expect(ticks('0 */2 * * *', '2026-03-08T04:30Z')).toEqual([
    '2026-03-08T05:00', // 00:00 EST
    '2026-03-08T08:00', // 04:00 EDT; there is no 02:00, and 03:00 is odd
    '2026-03-08T10:00',
  ])
  expect(ticks('30 * * * *', '2026-11-01T05:00Z')).toEqual([
    '2026-11-01T05:30', // 01:30 EDT
    '2026-11-01T06:30', // 01:30 EST
    '2026-11-01T07:30',
  ])
})

test('a range of hours follows the wall clock', () => {
  expect(ticks('0 0-23 * * *', '2026-11-01T04:30Z')).toEqual([
    '2026-11-01T05:00', // 01:00 EDT
    '2026-11-01T07:00', // 02:00 EST
    '2026-11-01T08:00',
  ])
})

test('Cairo keeps its 00:30 on the night that begins at 01:00', () => {
  const rule = { timezone: 'Africa/Cairo' }
  // 2027-04-30 00:00 EET becomes 01:00 EEST at 2027-04-29T22:00Z.
  expect(ticks('30 0 * * *', '2027-04-28T12:00Z', rule)).toEqual([
    '2027-04-28T22:30',
    '2027-04-29T22:30',
    '2027-04-30T21:30',
  ])
  expect(ticks('30 0 * * *', '2027-04-29T12:00Z', { ...rule, gap: 'skip' })[0]).toBe(
    '2027-04-30T21:30',
  )
})

test('Havana and Santiago keep their midnight', () => {
  expect(ticks('0 0 * * *', '2026-03-07T12:00Z', { timezone: 'America/Havana' })[0]).toBe(
    '2026-03-08T05:00',
  )
  expect(ticks('0 0 * * *', '2026-09-05T12:00Z', { timezone: 'America/Santiago' })[0]).toBe(
    '2026-09-06T04:00',
  )
})

test('Lord Howe shifts by half an hour', () => {
  const rule = { timezone: 'Australia/Lord_Howe' }
  // 2026-10-04: 02:00 (+10:30) becomes 02:30 (+11) at 15:30Z the day before.
  expect(ticks('15 2 * * *', '2026-10-03T12:00Z', rule).slice(0, 2)).toEqual([
    '2026-10-03T15:45',
    '2026-10-04T15:15',
  ])
  // 2026-04-05: 02:00 (+11) becomes 01:30 (+10:30) at 15:00Z the day before.
  expect(ticks('45 1 * * *', '2026-04-04T12:00Z', { ...rule, fold: 'twice' })).toEqual([
    '2026-04-04T14:45',
    '2026-04-04T15:15',
    '2026-04-05T15:15',
  ])
  expect(ticks('*/30 * * * *', '2026-04-04T14:15Z', rule)).toEqual([
    '2026-04-04T14:30', // 01:30 +11
    '2026-04-04T15:00', // 01:30 +10:30
    '2026-04-04T15:30', // 02:00 +10:30
  ])
})

test('Berlin in 2027', () => {
  const rule = { timezone: 'Europe/Berlin' }
  expect(ticks('0 2 * * *', '2027-03-27T12:00Z', rule).slice(0, 2)).toEqual([
    '2027-03-28T01:00',
    '2027-03-29T00:00',
  ])
  expect(ticks('30 2 * * *', '2027-10-30T12:00Z', rule).slice(0, 2)).toEqual([
    '2027-10-31T00:30',
    '2027-11-01T01:30',
  ])
})

test('a day that Apia never had is read with the offset before, or skipped', () => {
  const rule = { timezone: 'Pacific/Apia', count: 2 }
  // 2011-12-29 24:00 (-10) becomes 2011-12-31 00:00 (+14) at 2011-12-30T10:00Z.
  expect(ticks('0 9 * * *', '2011-12-29T12:00Z', rule)).toEqual([
    '2011-12-29T19:00',
    '2011-12-30T19:00', // 09:00 of the 30th, read with -10, is 09:00 of the 31st: one tick
  ])
  expect(ticks('0 9 30 12 *', '2011-01-01T00:00Z', { ...rule, gap: 'skip' })).toEqual([
    '2012-12-29T19:00',
    '2013-12-29T19:00',
  ])
})

test('when neither day field begins with * a day fires if either matches', () => {
  expect(ticks('0 0 13 * fri', '2026-01-01T12:00Z', { timezone: 'UTC', count: 4 })).toEqual([
    '2026-01-02T00:00',
    '2026-01-09T00:00',
    '2026-01-13T00:00',
    '2026-01-16T00:00',
  ])
})

test('when a day field begins with * both must match', () => {
  expect(ticks('0 0 */2 * mon', '2026-01-01T12:00Z', { timezone: 'UTC' })).toEqual([
    '2026-01-05T00:00',
    '2026-01-19T00:00',
    '2026-02-09T00:00',
  ])
  expect(ticks('0 0 29 2 */6', '2026-01-01T12:00Z', { timezone: 'UTC', count: 2 })).toEqual([
    '2032-02-29T00:00', // a Sunday
    '2048-02-29T00:00', // a Saturday
  ])
})

test.each([
  ['0 12 L * *', '2026-01-31T12:00 2026-02-28T12:00 2026-03-31T12:00'],
  ['0 12 L-3 * *', '2026-01-28T12:00 2026-02-25T12:00 2026-03-28T12:00'],
  ['0 12 LW * *', '2026-01-30T12:00 2026-02-27T12:00 2026-03-31T12:00'],
  ['0 12 1W * *', '2026-01-01T12:00 2026-02-02T12:00 2026-03-02T12:00'],
  ['0 12 1W 8 *', '2026-08-03T12:00 2027-08-02T12:00 2028-08-01T12:00'],
  ['0 12 15W * *', '2026-01-15T12:00 2026-02-16T12:00 2026-03-16T12:00'],
  ['0 12 31W * *', '2026-01-30T12:00 2026-03-31T12:00 2026-05-29T12:00'],
  ['0 12 31W 5 *', '2026-05-29T12:00 2027-05-31T12:00 2028-05-31T12:00'],
  ['0 12 ? * 5L', '2026-01-30T12:00 2026-02-27T12:00 2026-03-27T12:00'],
  ['0 12 * * tue#1', '2026-01-06T12:00 2026-02-03T12:00 2026-03-03T12:00'],
  ['0 12 * * 0#5', '2026-03-29T12:00 2026-05-31T12:00 2026-08-30T12:00'],
  ['0 0 29 2 ?', '2028-02-29T00:00 2032-02-29T00:00 2036-02-29T00:00'],
  ['59 23 31 12 *', '2026-12-31T23:59 2027-12-31T23:59 2028-12-31T23:59'],
  ['@yearly', '2026-01-01T00:00 2027-01-01T00:00 2028-01-01T00:00'],
  ['@weekly', '2026-01-04T00:00 2026-01-11T00:00 2026-01-18T00:00'],
  ['5 7 * jan,JUL 0,7', '2026-01-04T07:05 2026-01-11T07:05 2026-01-18T07:05'],
  ['10-30/10 0-23/12 1 * *', '2026-01-01T00:10 2026-01-01T00:20 2026-01-01T00:30'],
])('%s fires at %s', (expression, expected) => {
  expect(ticks(expression, '2025-12-31T23:59:59Z', { timezone: 'UTC' }).join(' ')).toBe(expected)
})

test('seconds come first when there are six fields', () => {
  const cadence = {
    kind: 'cron',
    expression: '*/20 59 23 * * *',
    timezone: 'UTC',
    gap: 'shift',
    fold: 'once',
  } as const
  const at = Date.parse('2026-01-01T23:59:39.999Z')
  expect(nextTick(cadence, at)).toBe(at + 1)
  expect(nextTick(cadence, at + 1)).toBe(Date.parse('2026-01-02T23:59:00Z'))
})

test('seconds and minutes that are past carry into the next minute and hour', () => {
  const cadence = parseCadenceKey('cron UTC shift once 10 5,50 8,9 * * *')
  const ask = (after: string) => new Date(nextTick(cadence, Date.parse(after)) ?? 0).toISOString()
  expect(ask('2026-01-01T08:05:10Z')).toBe('2026-01-01T08:50:10.000Z')
  expect(ask('2026-01-01T08:50:10Z')).toBe('2026-01-01T09:05:10.000Z')
  expect(ask('2026-01-01T09:50:10Z')).toBe('2026-01-02T08:05:10.000Z')
  expect(ask('1969-12-31T09:05:09.5Z')).toBe('1969-12-31T09:05:10.000Z')
})

test('brings nothing when a clock change swallows every wall time there is', () => {
  const never = { gap: 'skip', timezone: 'America/New_York' } as const
  expect(ticks('30 2 * 3 7#2', '2026-01-01T00:00Z', never)).toEqual([])
})

test('finds a date that comes once in decades', () => {
  expect(ticks('0 0 29 2 */6', '2076-03-01T00:00Z', { timezone: 'UTC', count: 2 })).toEqual([
    '2088-02-29T00:00', // a Sunday
    '2116-02-29T00:00', // a Saturday; 2100 is no leap year
  ])
})

test('an interval counts from the epoch and its offset', () => {
  const cadence = { kind: 'every', everyMs: 90_000, offsetMs: 10_000 } as const
  expect(nextTick(cadence, 0)).toBe(10_000)
  expect(nextTick(cadence, 10_000)).toBe(100_000)
  expect(nextTick(cadence, 99_999)).toBe(100_000)
  expect(nextTick(cadence, -80_001)).toBe(-80_000)
})

test('@every counts from the epoch in every zone, as every does', () => {
  const cadence = parseCadenceKey('cron America/New_York skip once @every 90s')
  for (const at of ['2026-03-08T06:59:59Z', '2026-11-01T05:30:00Z', '1969-12-31T23:59:59Z'])
    expect(nextTick(cadence, Date.parse(at))).toBe(
      nextTick({ kind: 'every', everyMs: 90_000, offsetMs: 0 }, Date.parse(at)),
    )
})

test('throws on an expression that is wrong and on a zone that does not exist', () => {
  expect(() => ticks('60 * * * *', '2026-01-01T00:00Z')).toThrow('minute "60"')
  expect(() => ticks('* * * * *', '2026-01-01T00:00Z', { timezone: 'Mars/Base' })).toThrow(
    RangeError,
  )
})

test('stays cheap: 50,000 ticks of a second, and the rarest of patterns', () => {
  const second = parseCadenceKey('cron Europe/Berlin shift once * * * * * *')
  const started = performance.now()
  let at = Date.parse('2026-03-29T00:00Z')
  for (let count = 0; count < 50_000; count += 1) at = nextTick(second, at) ?? 0
  expect(new Date(at).toISOString()).toBe('2026-03-29T13:53:20.000Z')
  nextTick(parseCadenceKey('cron Asia/Tehran shift once 0 0 29 2 */6'), Date.UTC(2096, 2, 1))
  // Some 40 ms on an idle machine.
  expect(performance.now() - started).toBeLessThan(15_000)
})
