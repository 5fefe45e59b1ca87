import { HOUR, systemClock } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { setupTicks } from './setup-ticks.ts'

interface Entry {
  verdict: string
  reason?: string
}

test('ticks ahead are upcoming, with the reason they will be skipped for', async () => {
  await using t = await setupTicks()
  const now = systemClock.now().getTime()
  await t.apply({ hourly: { cron: '0 * * * *' }, resting: { cron: '0 * * * *', paused: true } })
  const period = `from=${new Date(now + 1).toISOString()}&to=${new Date(now + 3 * HOUR).toISOString()}`
  const verdicts = async (name: string) => {
    const { body } = await t.api.ask(`/api/v1/schedules/${name}/ticks?${period}`)
    return body.items.map(({ verdict, reason }: Entry) => `${verdict} ${reason}`)
  }
  expect(await verdicts('hourly')).toEqual(Array(3).fill('upcoming undefined'))
  expect(await verdicts('resting')).toEqual(Array(3).fill('upcoming paused'))
})

test('the next ticks come with their local time, their jitter and what will keep them', async () => {
  await using t = await setupTicks()
  await t.apply({ nightly: { cron: '0 2 * * *', timezone: 'Asia/Jakarta', jitter: '1h' } })
  const id = await t.idOf('nightly')
  await t.db
    .insertInto('schedule_pauses')
    .values({
      schedule_id: id,
      from_at: systemClock.now(),
      until_at: new Date(systemClock.now().getTime() + 30 * HOUR),
      reason: null,
      author: 'test',
      resumed_by: null,
    })
    .execute()
  const { body } = await t.api.ask('/api/v1/schedules/nightly/next?count=3')
  expect(body.items).toHaveLength(3)
  for (const { tickAt, local, startsAt } of body.items) {
    expect(tickAt).toMatch(/T19:00:00\.000Z$/)
    expect(local).toMatch(/T02:00:00\+07:00$/)
    const waitMs = Date.parse(startsAt) - Date.parse(tickAt)
    expect(waitMs).toBeGreaterThan(0)
    expect(waitMs).toBeLessThan(HOUR)
  }
  expect(body.items[0].skipped).toBe('paused')
  expect(body.items[2].skipped).toBeUndefined()
})

test('what cannot be asked for is refused by name', async () => {
  await using t = await setupTicks()
  await t.apply({ dense: { every: '1s' } })
  await t.setTimes('dense', [['2026-01-01T00:00:00Z', null]])
  const refusal = async (path: string) => {
    const { status, body } = await t.api.ask(`/api/v1/schedules/${path}`)
    return `${status} ${body.detail}`
  }
  expect(await refusal('none/ticks')).toBe('404 There is no schedule "none".')
  expect(await refusal('a%00b/next')).toMatch(/^404 /)
  expect(await refusal('dense/ticks?limit=201')).toMatch(/^400 .*limit must be/)
  expect(await refusal('dense/ticks?cursor=x')).toMatch(/^400 .*cursor must be an instant/)
  expect(await refusal(`dense/ticks?from=2026-09-01T12:00:00Z&to=2026-08-01T00:00:00Z`)).toMatch(
    /^400 to must not be/,
  )
  expect(await refusal('dense/next?count=1001')).toMatch(/^400 .*count must be/)
  const month = 'from=2026-02-01T00:00:00Z&to=2026-03-01T00:00:00Z'
  expect(await refusal(`dense/ticks?${month}&summary=true`)).toMatch(
    /^400 summary is not made of more than 100000/,
  )
  const page = await t.api.ask(`/api/v1/schedules/dense/ticks?${month}`)
  expect(page.body.items).toHaveLength(50)
})
