import { expect, test } from 'vitest'
import { EMAIL, fileOf, setupSchedules } from './setup-schedules.ts'

const XMAS = { timezone: 'Europe/Berlin', dates: ['12-25'] }

test('a calendar is made, read, changed and deleted', async () => {
  await using api = await setupSchedules()
  const made = await api.send('PUT', '/calendars/xmas', XMAS)
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ name: 'xmas', ...XMAS, source: 'api', author: 'admin' })
  expect((await api.send('PUT', '/calendars/xmas', XMAS)).status).toBe(200)
  expect((await api.send('GET', '/calendars')).body).toMatchObject({
    items: [{ name: 'xmas' }],
    nextCursor: null,
  })
  expect((await api.send('DELETE', '/calendars/xmas')).status).toBe(204)
  expect((await api.send('GET', '/calendars/xmas')).status).toBe(404)
})

test('changing a calendar makes versions of the schedules that name it, with its diff', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/calendars/xmas', XMAS)
  const closed = { ...EMAIL, calendars: { skip: ['xmas'] } }
  await api.send('PUT', '/schedules/a', closed)
  await api.send('PUT', '/schedules/b', EMAIL)
  const more = { ...XMAS, dates: ['12-25', '12-26'] }
  const changed = await api.send('PUT', '/calendars/xmas?reason=law', more)
  expect(changed.body.changedSchedules).toEqual(['a'])
  const { body } = await api.send('GET', '/schedules/a/versions')
  expect(body.items[0]).toMatchObject({
    version: 2,
    reason: 'calendar xmas changed: law',
    spec: closed,
    diff: [{ field: 'calendar xmas: dates', before: ['12-25'], after: ['12-25', '12-26'] }],
  })
})

test('a calendar keeps a schedule from firing, and the next tick shown is the one after it', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/calendars/ages', { spans: [{ from: '2020-01-01', to: '2098-12-31' }] })
  const often = { ...EMAIL, cron: undefined, every: '1s', calendars: { skip: ['ages'] } }
  const made = await api.send('PUT', '/schedules/a', often)
  expect(made.body.nextTick).toBe('2099-01-01T00:00:00.000Z')
})

test('one that schedules name can not be deleted; one of the file not be changed', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/calendars/xmas', XMAS)
  await api.send('PUT', '/schedules/a', { ...EMAIL, calendars: { only: ['xmas'] } })
  const inUse = await api.send('DELETE', '/calendars/xmas')
  expect(inUse.status).toBe(409)
  expect(inUse.body.detail).toContain('schedules name it: a')
  await api.send('POST', '/schedules/apply', fileOf({}, { calendars: { filed: XMAS } }))
  for (const refused of [
    await api.send('PUT', '/calendars/filed', { dates: [] }),
    await api.send('DELETE', '/calendars/filed'),
  ])
    expect(refused.body.type).toBe('urn:jadwal:problem:of-the-file')
})

test('what is wrong with a calendar is told with its place and value', async () => {
  await using api = await setupSchedules()
  const wrong = { dates: ['31-12'], spans: [{ from: '2026-12-26', to: '2026-12-24' }], zone: 1 }
  const refused = await api.send('PUT', '/calendars/xmas', wrong)
  expect(refused.status).toBe(400)
  expect(refused.body.errors).toMatchObject([
    { field: 'dates.0', value: '31-12' },
    { field: 'spans.0', message: 'to must not be before from' },
    { field: 'zone', message: expect.stringContaining('unknown key') },
  ])
  expect((await api.send('PUT', '/calendars/Xmas', XMAS)).status).toBe(400)
})
