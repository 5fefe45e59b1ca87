import { expect, test } from 'vitest'
import { lastPeriod } from './report-period.ts'

test.each([
  {
    kind: 'hourly',
    at: '2026-09-01T10:05:00Z',
    timezone: 'UTC',
    from: '2026-09-01T09:00:00.000Z',
    to: '2026-09-01T10:00:00.000Z',
  },
  {
    kind: 'hourly',
    at: '2026-09-01T10:00:00Z',
    timezone: 'UTC',
    from: '2026-09-01T09:00:00.000Z',
    to: '2026-09-01T10:00:00.000Z',
  },
  {
    kind: 'hourly',
    at: '2026-09-01T10:05:00Z',
    timezone: 'Asia/Kolkata',
    from: '2026-09-01T08:30:00.000Z',
    to: '2026-09-01T09:30:00.000Z',
  },
  {
    kind: 'daily',
    at: '2026-08-31T23:00:00Z',
    timezone: 'Asia/Jakarta',
    from: '2026-08-30T17:00:00.000Z',
    to: '2026-08-31T17:00:00.000Z',
  },
  {
    kind: 'monthly',
    at: '2026-08-31T23:00:00Z',
    timezone: 'Asia/Jakarta',
    from: '2026-07-31T17:00:00.000Z',
    to: '2026-08-31T17:00:00.000Z',
  },
  {
    kind: 'monthly',
    at: '2026-01-01T06:00:00Z',
    timezone: 'UTC',
    from: '2025-12-01T00:00:00.000Z',
    to: '2026-01-01T00:00:00.000Z',
  },
  // The day of the clock change has 23 hours, and its month begins in another offset than it ends.
  {
    kind: 'daily',
    at: '2026-03-09T12:00:00Z',
    timezone: 'America/New_York',
    from: '2026-03-08T05:00:00.000Z',
    to: '2026-03-09T04:00:00.000Z',
  },
  {
    kind: 'monthly',
    at: '2026-04-01T12:00:00Z',
    timezone: 'America/New_York',
    from: '2026-03-01T05:00:00.000Z',
    to: '2026-04-01T04:00:00.000Z',
  },
] as const)('the last $kind period at $at in $timezone is $from to $to', (row) => {
  expect(lastPeriod(row.kind, new Date(row.at), row.timezone)).toEqual({
    from: new Date(row.from),
    to: new Date(row.to),
  })
})
