import { cronCadence } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { describeCadence } from '../src/cron-description.ts'
import { setupApi } from './setup-api.ts'

const rule = { timezone: 'UTC', gap: 'shift', fold: 'once' } as const

async function setup() {
  const api = await setupApi()
  const preview = (body: object) =>
    api.ask('/api/v1/cron/preview', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { preview, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() }
}

test('a preview has the ticks from an instant on, as UTC and as the zone shows them', async () => {
  await using t = await setup()
  const berlin = { cron: '30 2 * * *', timezone: 'Europe/Berlin', count: 2 }
  const autumn = { ...berlin, from: '2026-10-25T00:30:00Z' }
  expect((await t.preview(autumn)).body).toEqual({
    description: 'At 02:30',
    ticks: ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z'],
    local: ['2026-10-25T02:30:00+02:00', '2026-10-26T02:30:00+01:00'],
  })
  const twice = await t.preview({ ...autumn, dst: { fold: 'twice' } })
  expect(twice.body.ticks[1]).toBe('2026-10-25T01:30:00.000Z')
  const every = { every: '90s', offset: '10s', from: '2026-01-01T00:00:00Z', count: 1 }
  expect((await t.preview(every)).body).toEqual({
    description: 'Every 90 seconds, shifted by 10 seconds',
    ticks: ['2026-01-01T00:00:10.000Z'],
    local: ['2026-01-01T00:00:10+00:00'],
  })
  expect((await t.preview({ cron: '0 0 1 1 *' })).body.ticks).toHaveLength(10)
})

test('what cannot be previewed is refused by field', async () => {
  await using t = await setup()
  const refusal = async (body: object) => {
    const { status, body: problem } = await t.preview(body)
    return `${status} ${problem.errors[0].field}: ${problem.errors[0].message}`
  }
  expect(await refusal({ cron: '0 25 * * *' })).toMatch(/^400 cron: hour "25".*0-23/)
  expect(await refusal({ cron: '* * * * *', timezone: 'Mars/Base' })).toMatch(
    /^400 timezone: is no/,
  )
  expect(await refusal({ cron: '* * * * *', every: '90s' })).toMatch(/^400 cron: write exactly one/)
  expect(await refusal({ every: '90s', offset: '2m' })).toMatch(/^400 offset: must be shorter/)
  expect(await refusal({ cron: '* * * * *', count: 1_001 })).toMatch(/^400 count: must be/)
  expect(await refusal({ cron: '* * * * *', from: 'today' })).toMatch(/^400 from: must be an inst/)
  expect(await refusal({ cron: '* * * * *', payload: {} })).toMatch(/^400 payload: is not known/)
})

test.each([
  ['0 9-17 * * MON-FRI', 'Every hour, between 09:00 and 17:00, Monday through Friday'],
  // Not every 7 minutes: between 56 and 0 there are 4.
  ['*/7 * * * *', 'At 0, 7, 14, 21, 28, 35, 42, 49, and 56 minutes past the hour'],
  ['0 0 * */5 *', 'At 00:00, only in January, June, and November'],
  ['0 0 * * */2', 'At 00:00, on Sunday, Tuesday, Thursday, and Saturday'],
  ['0 0 * * 7', 'At 00:00, on Sunday'],
  // Either day field is enough …
  ['0 0 13 1 5', 'At 00:00, on day 13 of the month, and also on Friday, only in January'],
  ['0 0 1-31 * 1', 'At 00:00'],
  // … unless one begins with a star.
  ['0 0 */15 * 1', 'At 00:00, on day 1, 16, and 31 of the month, but only when that is Monday'],
  ['0 0 LW * ?', 'At 00:00, on the last weekday of the month'],
  ['0 8 ? * 2#1', 'At 08:00, on the first Tuesday of the month'],
  ['*/15 */12 * * *', 'Every 15 minutes, at 00:00 and 12:00'],
  ['@every 1h30m', 'Every 90 minutes'],
])('%s is put in words', (expression, words) => {
  expect(describeCadence(cronCadence(expression, rule))).toBe(words)
})

test('there are no words where none are sure to be right', () => {
  expect(describeCadence(cronCadence('0 0 1,15W * *', rule))).toBeNull()
  expect(describeCadence(cronCadence('0 0 * * 1,5L', rule))).toBeNull()
})
