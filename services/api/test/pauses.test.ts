import { expect, test } from 'vitest'
import { EMAIL, fileOf, setupSchedules } from './setup-schedules.ts'

const OFTEN = { ...EMAIL, cron: undefined, every: '1s' }
const FUTURE = '2099-01-01T00:00:00.000Z'

test('a paused schedule says since when, until when, why and by whom, and when it fires next', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/schedules/a', OFTEN)
  const paused = await api.send('POST', '/schedules/a/pause', { reason: 'move', until: FUTURE })
  expect(paused.status).toBe(200)
  expect(paused.body).toMatchObject({
    pause: { since: expect.any(String), until: FUTURE, reason: 'move', author: 'admin' },
    nextTick: '2099-01-01T00:00:01.000Z',
  })
  const open = await api.send('POST', '/schedules/a/pause')
  expect(open.body).toMatchObject({ pause: { author: 'admin' }, nextTick: null })
  expect(open.body.pause).not.toHaveProperty('until')
  expect((await api.send('GET', '/schedules')).body.items).toMatchObject([{ pause: {} }])
  const resumed = await api.send('POST', '/schedules/a/resume')
  expect(resumed.body).not.toHaveProperty('pause')
  expect(resumed.body.nextTick).toEqual(expect.any(String))
  expect((await api.send('POST', '/schedules/a/resume')).status).toBe(200)
})

test('a schedule of the file can be paused, and applying the file again leaves it so', async () => {
  await using api = await setupSchedules()
  await api.send('POST', '/schedules/apply', fileOf({ a: EMAIL }))
  await api.send('POST', '/schedules/a/pause', {})
  const again = await api.send('POST', '/schedules/apply', fileOf({ a: EMAIL }))
  expect(again.body.unchanged).toEqual(['a'])
  expect((await api.send('GET', '/schedules/a')).body).toMatchObject({ pause: {}, version: 1 })
})

test('what its own field pauses can not be resumed from outside', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/schedules/a', { ...EMAIL, paused: true })
  const refused = await api.send('POST', '/schedules/a/resume')
  expect(refused.status).toBe(409)
  expect(refused.body.detail).toContain('paused: true')
})

test('everything is paused and resumed at one stroke', async () => {
  await using api = await setupSchedules()
  await api.send('PUT', '/schedules/a', OFTEN)
  expect((await api.send('GET', '/pause')).body).toEqual({ pause: null })
  const paused = await api.send('POST', '/pause', { reason: 'outage' })
  expect(paused.body.pause).toMatchObject({ reason: 'outage', author: 'admin', everything: true })
  expect((await api.send('GET', '/schedules/a')).body).toMatchObject({
    pause: { everything: true, reason: 'outage' },
    nextTick: null,
  })
  const page = await api.ask('/', { headers: { accept: 'text/html' } })
  expect(page.text).toMatch(/<td>a<\/td>[^]*<span class="soft">paused<\/span>/)
  expect((await api.send('POST', '/resume')).body).toEqual({ pause: null })
  expect((await api.send('GET', '/schedules/a')).body.nextTick).toEqual(expect.any(String))
})

test.each([
  [{ until: '2020-01-01T00:00:00Z' }, 'until'],
  [{ until: 'tomorrow' }, 'until'],
  [{ reason: 5 }, 'reason'],
  [{ why: 'x' }, 'why'],
])('a pause with %j is refused and its field named', async (body, field) => {
  await using api = await setupSchedules()
  await api.send('PUT', '/schedules/a', EMAIL)
  for (const path of ['/schedules/a/pause', '/pause']) {
    const refused = await api.send('POST', path, body)
    expect(refused.status).toBe(400)
    expect(refused.body.errors[0].field).toBe(field)
  }
})
