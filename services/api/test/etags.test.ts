import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMAIL, setupSchedules, type SchedulesApi } from './setup-schedules.ts'
import type { Answer } from './setup-api.ts'

let api: SchedulesApi

beforeAll(async () => {
  api = await setupSchedules()
})
afterAll(async () => api[Symbol.asyncDispose]())

/** Sends what is asked, a method and a path, with headers beside those of JSON. */
function send(asked: string, headers: object, body?: unknown): Promise<Answer> {
  const [method = '', path = ''] = asked.split(' ')
  return api.ask(`/api/v1${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

function tagOf({ headers }: Answer): string {
  return headers.get('etag') ?? ''
}

test('a schedule that has not changed is not sent again', async () => {
  const tag = tagOf(await api.send('PUT', '/schedules/same', EMAIL))
  const read = await api.ask('/api/v1/schedules/same')
  expect(tag).toMatch(/^"\d+"$/)
  expect(tagOf(read)).toBe(tag)
  const again = await api.ask('/api/v1/schedules/same', { headers: { 'if-none-match': tag } })
  expect([again.status, again.text, tagOf(again)]).toEqual([304, '', tag])
  const weak = { 'if-none-match': `"0", W/${tag}` }
  expect((await api.ask('/api/v1/schedules/same', { headers: weak })).status).toBe(304)
  await api.send('PUT', '/schedules/same', { ...EMAIL, cron: '0 7 * * *' })
  const changed = await api.ask('/api/v1/schedules/same', { headers: { 'if-none-match': tag } })
  expect(changed.status).toBe(200)
  expect(tagOf(changed)).not.toBe(tag)
})

test('of two editors who began with the same version one is told so, and overwrites nothing', async () => {
  const tag = tagOf(await api.send('PUT', '/schedules/edited', EMAIL))
  const edits = Array.from({ length: 8 }, (_, hour) =>
    send('PUT /schedules/edited', { 'if-match': tag }, { ...EMAIL, cron: `0 ${hour + 7} * * *` }),
  )
  const answers = await Promise.all(edits)
  const good = answers.filter(({ status }) => status === 200)
  const late = answers.filter(({ status }) => status === 412)
  expect([good.length, late.length]).toEqual([1, 7])
  const now = await api.ask('/api/v1/schedules/edited')
  expect(now.body.cron).toBe(good[0]?.body.cron)
  for (const answer of late) {
    expect(answer.body.type).toBe('urn:jadwal:problem:precondition-failed')
    expect(tagOf(answer)).toBe(tagOf(now))
  }
  expect((await api.ask('/api/v1/schedules/edited/versions')).body.items).toHaveLength(2)
})

test('pause, resume, rollback and deletion heed If-Match, and each answers with the tag after it', async () => {
  const first = tagOf(await api.send('PUT', '/schedules/acted', EMAIL))
  const second = tagOf(await api.send('PUT', '/schedules/acted', { ...EMAIL, cron: '0 8 * * *' }))
  const acts = [
    ['POST /schedules/acted/pause', {}],
    ['POST /schedules/acted/resume', {}],
    ['POST /schedules/acted/rollback', { version: 1 }],
  ] as const
  let tag = second
  for (const [act, body] of acts) {
    const late = await send(act, { 'if-match': first }, body)
    expect([late.status, tagOf(late)], act).toEqual([412, tag])
    const done = await send(act, { 'if-match': tag }, body)
    expect(done.status, act).toBe(200)
    expect(tagOf(done), act).not.toBe(tag)
    tag = tagOf(done)
  }
  expect((await send('DELETE /schedules/acted', { 'if-match': second })).status).toBe(412)
  expect((await send('DELETE /schedules/acted', { 'if-match': tag })).status).toBe(204)
})

test('If-None-Match: * only creates, If-Match: * only replaces', async () => {
  const missing = await send('PUT /schedules/star', { 'if-match': '*' }, EMAIL)
  expect([missing.status, tagOf(missing)]).toEqual([412, ''])
  const creating = { 'if-none-match': '*' }
  const answers = await Promise.all([
    send('PUT /schedules/star', creating, EMAIL),
    send('PUT /schedules/star', creating, { ...EMAIL, cron: '0 9 * * *' }),
  ])
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 412])
  const replaced = await send('PUT /schedules/star', { 'if-match': '*' }, EMAIL)
  expect(replaced.status).toBe(200)
})

test('calendars have tags of their own', async () => {
  const tag = tagOf(await api.send('PUT', '/calendars/tagged', { dates: ['12-25'] }))
  const same = await api.ask('/api/v1/calendars/tagged', { headers: { 'if-none-match': tag } })
  expect(same.status).toBe(304)
  const other = { dates: ['01-01'] }
  const changed = await send('PUT /calendars/tagged', { 'if-match': tag }, other)
  expect(changed.status).toBe(200)
  const late = await send('PUT /calendars/tagged', { 'if-match': tag }, { dates: [] })
  expect([late.status, tagOf(late)]).toEqual([412, tagOf(changed)])
  expect((await send('DELETE /calendars/tagged', { 'if-match': tag })).status).toBe(412)
  const last = { 'if-match': tagOf(changed) }
  expect((await send('DELETE /calendars/tagged', last)).status).toBe(204)
})

test('a tag without quotes is refused by its name', async () => {
  const { status, body } = await send('PUT /schedules/bad', { 'if-match': '12' }, EMAIL)
  expect(status).toBe(400)
  expect(body.errors).toEqual([
    { field: 'If-Match', message: 'must be * or tags in quotes, such as "1042"' },
  ])
})
