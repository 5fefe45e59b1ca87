import { type Cadence, DAY, HOUR, nextTick } from '@jadwal/domain'
import { expect, test } from 'vitest'

/*
 * Worked out by hand from the dates of the clock changes: a wall time less its offset. Instants are
 * UTC. The rows hold under the time zone data 2025c and 2026c; of Casablanca's year 2027 the former
 * says that the clock is changed twice, the latter that it is not.
 */

/** Zone; what its clock shows before and after, and when; a wall time that is left out; its tick under `shift`; the next under `skip`. */
const GAPS = `
  America/New_York     02:00 > 03:00  2026-03-08T07:00  30 2  2026-03-08T07:30  2026-03-09T06:30
  America/New_York     02:00 > 03:00  2027-03-14T07:00  30 2  2027-03-14T07:30  2027-03-15T06:30
  Europe/London        01:00 > 02:00  2026-03-29T01:00  30 1  2026-03-29T01:30  2026-03-30T00:30
  Europe/London        01:00 > 02:00  2027-03-28T01:00  30 1  2027-03-28T01:30  2027-03-29T00:30
  Europe/Berlin        02:00 > 03:00  2026-03-29T01:00  30 2  2026-03-29T01:30  2026-03-30T00:30
  Europe/Berlin        02:00 > 03:00  2027-03-28T01:00  0 2   2027-03-28T01:00  2027-03-29T00:00
  Australia/Sydney     02:00 > 03:00  2026-10-03T16:00  30 2  2026-10-03T16:30  2026-10-04T15:30
  Australia/Sydney     02:00 > 03:00  2027-10-02T16:00  59 2  2027-10-02T16:59  2027-10-03T15:59
  Australia/Lord_Howe  02:00 > 02:30  2026-10-03T15:30  15 2  2026-10-03T15:45  2026-10-04T15:15
  Australia/Lord_Howe  02:00 > 02:30  2027-10-02T15:30  15 2  2027-10-02T15:45  2027-10-03T15:15
  Africa/Cairo         00:00 > 01:00  2026-04-23T22:00  0 0   2026-04-23T22:00  2026-04-24T21:00
  Africa/Cairo         00:00 > 01:00  2026-04-23T22:00  30 0  2026-04-23T22:30  2026-04-24T21:30
  Africa/Cairo         00:00 > 01:00  2027-04-29T22:00  30 0  2027-04-29T22:30  2027-04-30T21:30
  Africa/Casablanca    02:00 > 03:00  2026-03-22T02:00  30 2  2026-03-22T02:30  2026-03-23T01:30
  Africa/Casablanca    02:00 > 03:00  2025-04-06T02:00  30 2  2025-04-06T02:30  2025-04-07T01:30
  America/Santiago     00:00 > 01:00  2026-09-06T04:00  30 0  2026-09-06T04:30  2026-09-07T03:30
  America/Santiago     00:00 > 01:00  2027-09-05T04:00  0 0   2027-09-05T04:00  2027-09-06T03:00
  America/Havana       00:00 > 01:00  2026-03-08T05:00  30 0  2026-03-08T05:30  2026-03-09T04:30
  America/Havana       00:00 > 01:00  2027-03-14T05:00  0 0   2027-03-14T05:00  2027-03-15T04:00
  Antarctica/Troll     01:00 > 03:00  2026-03-29T01:00  30 1  2026-03-29T01:30  2026-03-29T23:30
  Antarctica/Troll     01:00 > 03:00  2026-03-29T01:00  30 2  2026-03-29T02:30  2026-03-30T00:30
  Antarctica/Troll     01:00 > 03:00  2027-03-28T01:00  30 2  2027-03-28T02:30  2027-03-29T00:30
  Pacific/Chatham      02:45 > 03:45  2026-09-26T14:00  15 3  2026-09-26T14:30  2026-09-27T13:30
  Pacific/Chatham      02:45 > 03:45  2027-09-25T14:00  45 2  2027-09-25T14:00  2027-09-26T13:00
  America/St_Johns     02:00 > 03:00  2026-03-08T05:30  30 2  2026-03-08T06:00  2026-03-09T05:00
  America/St_Johns     02:00 > 03:00  2027-03-14T05:30  30 2  2027-03-14T06:00  2027-03-15T05:00
  Asia/Gaza            02:00 > 03:00  2026-03-28T00:00  30 2  2026-03-28T00:30  2026-03-28T23:30
  Asia/Tehran          00:00 > 01:00  2022-03-21T20:30  30 0  2022-03-21T21:00  2022-03-22T20:00
  America/Sao_Paulo    00:00 > 01:00  2018-11-04T03:00  30 0  2018-11-04T03:30  2018-11-05T02:30
  America/Asuncion     00:00 > 01:00  2024-10-06T04:00  30 0  2024-10-06T04:30  2024-10-07T03:30
`

/** Zone; what its clock shows before and after, and when; a wall time that comes twice; both its ticks. */
const FOLDS = `
  America/New_York     02:00 > 01:00  2026-11-01T06:00  30 1   2026-11-01T05:30  2026-11-01T06:30
  America/New_York     02:00 > 01:00  2027-11-07T06:00  0 1    2027-11-07T05:00  2027-11-07T06:00
  Europe/London        02:00 > 01:00  2026-10-25T01:00  30 1   2026-10-25T00:30  2026-10-25T01:30
  Europe/London        02:00 > 01:00  2027-10-31T01:00  59 1   2027-10-31T00:59  2027-10-31T01:59
  Europe/Berlin        03:00 > 02:00  2026-10-25T01:00  30 2   2026-10-25T00:30  2026-10-25T01:30
  Europe/Berlin        03:00 > 02:00  2027-10-31T01:00  30 2   2027-10-31T00:30  2027-10-31T01:30
  Australia/Sydney     03:00 > 02:00  2026-04-04T16:00  30 2   2026-04-04T15:30  2026-04-04T16:30
  Australia/Sydney     03:00 > 02:00  2027-04-03T16:00  0 2    2027-04-03T15:00  2027-04-03T16:00
  Australia/Lord_Howe  02:00 > 01:30  2026-04-04T15:00  45 1   2026-04-04T14:45  2026-04-04T15:15
  Australia/Lord_Howe  02:00 > 01:30  2027-04-03T15:00  30 1   2027-04-03T14:30  2027-04-03T15:00
  Africa/Cairo         24:00 > 23:00  2026-10-29T21:00  30 23  2026-10-29T20:30  2026-10-29T21:30
  Africa/Cairo         24:00 > 23:00  2027-10-28T21:00  30 23  2027-10-28T20:30  2027-10-28T21:30
  Africa/Casablanca    03:00 > 02:00  2026-02-15T02:00  30 2   2026-02-15T01:30  2026-02-15T02:30
  Africa/Casablanca    03:00 > 02:00  2025-02-23T02:00  30 2   2025-02-23T01:30  2025-02-23T02:30
  America/Santiago     24:00 > 23:00  2026-04-05T03:00  30 23  2026-04-05T02:30  2026-04-05T03:30
  America/Santiago     24:00 > 23:00  2027-04-04T03:00  0 23   2027-04-04T02:00  2027-04-04T03:00
  America/Havana       01:00 > 00:00  2026-11-01T05:00  0 0    2026-11-01T04:00  2026-11-01T05:00
  America/Havana       01:00 > 00:00  2027-11-07T05:00  30 0   2027-11-07T04:30  2027-11-07T05:30
  Antarctica/Troll     03:00 > 01:00  2026-10-25T01:00  30 1   2026-10-24T23:30  2026-10-25T01:30
  Antarctica/Troll     03:00 > 01:00  2026-10-25T01:00  30 2   2026-10-25T00:30  2026-10-25T02:30
  Antarctica/Troll     03:00 > 01:00  2027-10-31T01:00  30 2   2027-10-31T00:30  2027-10-31T02:30
  Pacific/Chatham      03:45 > 02:45  2026-04-04T14:00  15 3   2026-04-04T13:30  2026-04-04T14:30
  Pacific/Chatham      03:45 > 02:45  2027-04-03T14:00  45 2   2027-04-03T13:00  2027-04-03T14:00
  America/St_Johns     02:00 > 01:00  2026-11-01T04:30  30 1   2026-11-01T04:00  2026-11-01T05:00
  America/St_Johns     02:00 > 01:00  2027-11-07T04:30  30 1   2027-11-07T04:00  2027-11-07T05:00
  Asia/Gaza            02:00 > 01:00  2026-10-23T23:00  30 1   2026-10-23T22:30  2026-10-23T23:30
  Asia/Tehran          24:00 > 23:00  2022-09-21T19:30  30 23  2022-09-21T19:00  2022-09-21T20:00
  America/Sao_Paulo    24:00 > 23:00  2019-02-17T02:00  30 23  2019-02-17T01:30  2019-02-17T02:30
  America/Asuncion     24:00 > 23:00  2024-03-24T03:00  30 23  2024-03-24T02:30  2024-03-24T03:30
`

/** Zone; expression; after; ticks. */
const MEETINGS = `
  Pacific/Apia      0 9 30 12 *      2011-12-29T00:00  2011-12-30T19:00 2012-12-29T19:00
  # 09:00 of the lost 30th, read with -10, is 09:00 of the 31st with +14.
  Pacific/Apia      0 9 * * *        2011-12-29T12:00  2011-12-29T19:00 2011-12-30T19:00 2011-12-31T19:00
  America/New_York  30 1-3 * * *     2026-03-08T06:00  2026-03-08T06:30 2026-03-08T07:30 2026-03-09T05:30
  Antarctica/Troll  30 1-4 * * *     2026-03-29T00:00  2026-03-29T01:30 2026-03-29T02:30 2026-03-29T23:30
  # 03:45 stands first behind the gap that 03:15 lies in.
  Pacific/Chatham   15,45 3 * * *    2026-09-26T13:00  2026-09-26T14:00 2026-09-26T14:30 2026-09-27T13:30
  America/New_York  */20 30 2 * * *  2026-03-08T06:00  2026-03-08T07:30 2026-03-08T07:30:20 2026-03-08T07:30:40 2026-03-09T06:30
`

/** Zone; expression; after; ticks, whatever gap and fold say. */
const REAL_TIME = `
  # 00:00 EST, 04:00 EDT, 06:00 EDT: there is no 02:00, and 03:00 is odd.
  America/New_York     0 */2 * * *   2026-03-08T04:30  2026-03-08T05:00 2026-03-08T08:00 2026-03-08T10:00
  # 00:00 EDT, 02:00 EST.
  America/New_York     0 */2 * * *   2026-11-01T03:30  2026-11-01T04:00 2026-11-01T07:00
  America/New_York     30 * * * *    2026-11-01T04:45  2026-11-01T05:30 2026-11-01T06:30 2026-11-01T07:30
  America/New_York     30 *,1 * * *  2026-03-08T06:00  2026-03-08T06:30 2026-03-08T07:30 2026-03-08T08:30
  # 18:00 EET, 06:00 EEST: that day has no 00:00.
  Africa/Cairo         0 */6 * * *   2026-04-23T15:00  2026-04-23T16:00 2026-04-24T03:00
  # 23:00 EEST, 23:00 EET, 00:00 EET.
  Africa/Cairo         0 */23 * * *  2026-10-29T12:00  2026-10-29T20:00 2026-10-29T21:00 2026-10-29T22:00
  Australia/Lord_Howe  */30 * * * *  2026-04-04T14:15  2026-04-04T14:30 2026-04-04T15:00 2026-04-04T15:30
  Australia/Lord_Howe  0 * * * *     2026-10-03T14:00  2026-10-03T14:30 2026-10-03T16:00 2026-10-03T17:00
  Australia/Lord_Howe  45 * * * *    2026-04-04T14:00  2026-04-04T14:45 2026-04-04T15:15 2026-04-04T16:15
  # 00:30 and 04:30; 01:30 and 02:30 are lost, 03:30 is odd.
  Antarctica/Troll     30 */2 * * *  2026-03-29T00:00  2026-03-29T00:30 2026-03-29T02:30
  # 00:30, 02:30 and again 02:30.
  Antarctica/Troll     30 */2 * * *  2026-10-24T22:00  2026-10-24T22:30 2026-10-25T00:30 2026-10-25T02:30
`

test.each(rows(GAPS))('%s', (row) => {
  const [timezone = '', , change = '', time = '', shifted, next] = cells(row)
  const span = { after: at(change) - HOUR, count: 1 }
  expect(ticks(`${time} * * *`, { timezone }, span)).toEqual([shifted])
  expect(ticks(`${time} * * *`, { timezone, gap: 'skip' }, span)).toEqual([next])
})

test.each(rows(FOLDS))('%s', (row) => {
  const [timezone = '', , change = '', time = '', first, second] = cells(row)
  const span = { after: at(change) - 3 * HOUR, count: 2 }
  expect(ticks(`${time} * * *`, { timezone, fold: 'twice' }, span)).toEqual([first, second])
  const once = ticks(`${time} * * *`, { timezone }, span)
  expect(once[0]).toBe(first)
  expect(at(once[1] ?? '')).toBeGreaterThan(at(change) + 20 * HOUR)
})

test.each(rows(MEETINGS))('%s', (row) => {
  const [timezone = '', expression = '', after = '', right = ''] = cells(row)
  const span = { after: at(after), count: right.split(' ').length }
  expect(ticks(expression, { timezone }, span).join(' ')).toBe(right)
})

test.each(rows(REAL_TIME))('%s', (row) => {
  const [timezone = '', expression = '', after = '', right = ''] = cells(row)
  const span = { after: at(after), count: right.split(' ').length }
  expect(ticks(expression, { timezone }, span).join(' ')).toBe(right)
  const other = { timezone, gap: 'skip', fold: 'twice' } as const
  expect(ticks(expression, other, span).join(' ')).toBe(right)
})

test.each([
  ['America/Asuncion', 3], // -3 all the year since October 2024
  ['Pacific/Apia', -13], // no summer time since 2021
  ['America/Sao_Paulo', 3],
  ['Asia/Kathmandu', -5.75],
  ['Asia/Tehran', -3.5],
])('%s keeps its clock in 2026 and 2027', (timezone, hours) => {
  const days = (Date.UTC(2028) - Date.UTC(2026)) / DAY
  const midnights = Array.from({ length: days }, (_, day) =>
    iso(Date.UTC(2026) + day * DAY + hours * HOUR),
  )
  const after = Date.UTC(2026) + hours * HOUR - 1
  expect(ticks('0 0 * * *', { timezone }, { after, count: days })).toEqual(midnights)
})

interface Rule {
  timezone: string
  gap?: 'shift' | 'skip'
  fold?: 'once' | 'twice'
}

/** The first ticks after an instant. */
function ticks(expression: string, rule: Rule, { after, count }: { after: number; count: number }) {
  const cadence: Cadence = { kind: 'cron', expression, gap: 'shift', fold: 'once', ...rule }
  const found: string[] = []
  let tick: number | undefined = after
  while (found.length < count) {
    tick = nextTick(cadence, tick)
    if (tick === undefined) break
    found.push(iso(tick))
  }
  return found
}

function rows(table: string): string[] {
  return table
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/** Two spaces or more part the cells of a row. */
function cells(row: string): string[] {
  return row.split(/ {2,}/)
}

function at(instant: string): number {
  return Date.parse(`${instant}Z`)
}

/** To the minute, or to the second where there are any. */
function iso(atMs: number): string {
  return new Date(atMs).toISOString().replace(/(:00)?\.000Z$/, '')
}
