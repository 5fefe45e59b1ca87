import { expect, test } from 'vitest'
import { HOUR, MINUTE } from './clock.ts'
import { isTimezone, zoneClock } from './zone-clock.ts'

function stretch(timezone: string, at: string) {
  const { fromMs, untilMs, offsetMs, offsetBeforeMs } = zoneClock(timezone).stretchAt(
    Date.parse(at),
  )
  return {
    from: new Date(fromMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    offset: offsetMs / HOUR,
    before: offsetBeforeMs / HOUR,
  }
}

test('a stretch as long as the change stands behind a gap and behind a fold', () => {
  expect(stretch('America/New_York', '2026-03-08T07:00:00Z')).toEqual({
    from: '2026-03-08T07:00:00.000Z',
    until: '2026-03-08T08:00:00.000Z',
    offset: -4,
    before: -5,
  })
  expect(stretch('Australia/Lord_Howe', '2026-04-04T15:29:59Z')).toEqual({
    from: '2026-04-04T15:00:00.000Z',
    until: '2026-04-04T15:30:00.000Z',
    offset: 10.5,
    before: 11,
  })
  expect(stretch('America/New_York', '2026-03-08T06:59:59Z')).toMatchObject({
    until: '2026-03-08T07:00:00.000Z',
    offset: -5,
    before: -5,
  })
})

test('a change of the date line is a gap of a day', () => {
  expect(stretch('Pacific/Apia', '2011-12-30T10:00:00Z')).toMatchObject({
    until: '2011-12-31T10:00:00.000Z',
    offset: 14,
    before: -10,
  })
})

test('two changes within a week are both seen', () => {
  // Noronha went to summer time on 2000-10-08T02:00Z and back on 2000-10-15T01:00Z.
  expect(stretch('America/Noronha', '2000-10-08T01:59:59Z').offset).toBe(-2)
  expect(stretch('America/Noronha', '2000-10-11T12:00:00Z').offset).toBe(-1)
  expect(stretch('America/Noronha', '2000-10-15T01:00:00Z')).toMatchObject({
    offset: -2,
    before: -1,
  })
})

test('a change on an odd second is found to the second', () => {
  // Liberia gave up its offset of -00:44:30 on 1972-01-07T00:44:30Z.
  expect(stretch('Africa/Monrovia', '1972-01-07T00:44:29Z').offset).toBeCloseTo(-44.5 / 60)
  expect(stretch('Africa/Monrovia', '1972-01-07T00:44:30Z')).toMatchObject({
    from: '1972-01-07T00:44:30.000Z',
    offset: 0,
  })
})

test('every instant lies in the stretch that it is given', () => {
  const clock = zoneClock('Africa/Casablanca')
  const end = Date.UTC(2027, 0)
  for (let at = Date.UTC(2026, 0); at < end; at += 37 * MINUTE) {
    const { fromMs, untilMs } = clock.stretchAt(at)
    expect(at).toBeGreaterThanOrEqual(fromMs)
    expect(at).toBeLessThan(untilMs)
  }
})

test('UTC never changes', () => {
  expect(zoneClock('UTC').stretchAt(0)).toMatchObject({ untilMs: Infinity, offsetMs: 0 })
})

test('tells IANA names from other texts', () => {
  expect(isTimezone('Asia/Jakarta')).toBe(true)
  expect(isTimezone('Asia/Jakarta')).toBe(true)
  expect(isTimezone('UTC')).toBe(true)
  expect(isTimezone('+05:30')).toBe(false)
  expect(isTimezone('Mars/Base')).toBe(false)
  expect(isTimezone('')).toBe(false)
})

test.each(['BST', 'cst', 'PST', 'IST', 'SystemV/PST8PDT', 'Local', 'Z', 'UTC+1'])(
  '%s is no IANA name, whatever Node takes it for',
  (name) => {
    expect(isTimezone(name)).toBe(false)
  },
)

test.each(['EST', 'CST6CDT', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'GB', 'ROC'])(
  '%s is an IANA name',
  (name) => {
    expect(isTimezone(name)).toBe(true)
  },
)
