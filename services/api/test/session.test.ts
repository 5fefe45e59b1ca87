import { once } from 'node:events'
import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import { DAY, HOUR } from '@jadwal/domain'
import { FakeClock } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { Sessions } from '../src/session.ts'
import { makeToken, signIn } from './setup-access.ts'
import { setupApi, type TestApi } from './setup-api.ts'

const PAUSE = '/api/v1/pause'
const post = async (api: TestApi, headers: Record<string, string>, path = PAUSE) =>
  (await api.ask(path, { method: 'POST', headers: { authorization: '', ...headers } })).status

test('a session changes something only for a page of its own', async () => {
  await using api = await setupApi()
  const { cookie, csrfToken } = await signIn(api)
  const another = await signIn(api)
  const own = { cookie, 'x-xsrf-token': csrfToken }
  expect(await post(api, { cookie })).toBe(403)
  expect(await post(api, { cookie, 'x-xsrf-token': 'wrong' })).toBe(403)
  expect(await post(api, { cookie, 'x-xsrf-token': another.csrfToken })).toBe(403)
  // What another site could make a browser keep: the cookie and the header are equal, but not of the session.
  expect(await post(api, { cookie: `${cookie}; XSRF-TOKEN=mine`, 'x-xsrf-token': 'mine' })).toBe(
    403,
  )
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1'])
    expect(await post(api, { ...own, origin })).toBe(403)
  for (const site of ['cross-site', 'same-site'])
    expect(await post(api, { ...own, 'sec-fetch-site': site })).toBe(403)
  expect(await post(api, own)).toBe(200)
  expect(await post(api, { ...own, origin: api.url, 'sec-fetch-site': 'same-origin' })).toBe(200)
})

test('a session may do what its token may', async () => {
  await using api = await setupApi()
  const { token } = await makeToken(api, { name: 'ana', role: 'viewer' })
  const { cookie, csrfToken } = await signIn(api, token)
  expect(await post(api, { cookie, 'x-xsrf-token': csrfToken })).toBe(403)
  const me = await api.ask('/api/v1/me', { headers: { authorization: '', cookie } })
  expect(me.body).toMatchObject({ name: 'ana', role: 'viewer', by: 'session' })
})

test('a header that is wrong is not made good by a cookie', async () => {
  await using api = await setupApi()
  const { cookie } = await signIn(api)
  const headers = { cookie, authorization: 'Bearer wrong' }
  expect((await api.ask('/api/v1/me', { headers })).status).toBe(401)
})

test('no page of another site signs a browser in or out', async () => {
  await using api = await setupApi()
  for (const path of ['/login', '/logout']) {
    expect(await post(api, { origin: 'https://evil.example' }, path)).toBe(403)
    expect(await post(api, { 'sec-fetch-site': 'cross-site' }, path)).toBe(403)
  }
})

test('signing out takes every cookie', async () => {
  await using api = await setupApi({ JADWAL_PUBLIC_URL: 'https://example.com/jobs' })
  const { headers } = await api.ask('/logout', { method: 'POST', headers: { authorization: '' } })
  const cleared = headers.getSetCookie()
  expect(cleared.map((each) => each.split('=')[0])).toEqual(['jadwal_session', 'XSRF-TOKEN'])
  for (const each of cleared) expect(each).toMatch(/=; Path=\/jobs; Expires=Thu, 01 Jan 1970/)
})

test('behind TLS and below a path, both cookies are for that alone', async () => {
  await using api = await setupApi({ JADWAL_PUBLIC_URL: 'https://example.com/jobs' })
  const body = new URLSearchParams({ token: 'test-admin-token' })
  const { headers } = await api.ask('/login', { method: 'POST', body })
  for (const each of headers.getSetCookie()) expect(each).toMatch(/; Path=\/jobs; .*; Secure/)
})

test('a browser that comes by a link of another site is made to ask again from here', async () => {
  await using api = await setupApi()
  // Not by fetch, which says itself how it asks.
  const open = async (site: string): Promise<string> => {
    const headers = { accept: 'text/html', 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' }
    const [res] = await once(get(`${api.url}/somewhere?a=1&b=%22`, { headers }), 'response')
    return await text(res)
  }
  const linked = await open('cross-site')
  expect(linked).toContain('content="0;url=/somewhere?a=1&amp;b=%22"')
  expect(linked).not.toContain('<form')
  expect(await open('same-origin')).toContain('<form')
})

test('a session ends after seven days, or when nothing was asked for twelve hours', () => {
  const clock = new FakeClock()
  const sessions = new Sessions('admin-token', clock)
  let { cookie } = sessions.open({ kind: 'bootstrap' })
  for (let hours = 0; hours < 7 * 24 - 6; hours += 6) {
    clock.advance(6 * HOUR)
    const session = sessions.read(cookie)
    expect(session?.of).toEqual({ kind: 'bootstrap' })
    cookie = session?.renewed ?? ''
  }
  clock.advance(6 * HOUR)
  expect(sessions.read(cookie)).toBeUndefined()

  const idle = sessions.open({ kind: 'token', tokenId: 'x' }).cookie
  clock.advance(12 * HOUR - 1)
  expect(sessions.read(idle)).toBeDefined()
  clock.advance(1)
  expect(sessions.read(idle)).toBeUndefined()
})

test('a session ends with its token, and another admin token knows none of its sessions', () => {
  const clock = new FakeClock()
  const sessions = new Sessions('admin-token', clock)
  const endsAt = new Date(clock.now().getTime() + HOUR)
  const { cookie, session } = sessions.open({ kind: 'token', tokenId: 'x' }, endsAt)
  expect(session.endsAt).toEqual(endsAt)
  expect(new Sessions('admin-token', clock).read(cookie)?.csrfToken).toBe(session.csrfToken)
  expect(new Sessions('another-token', clock).read(cookie)).toBeUndefined()
  expect(sessions.open({ kind: 'bootstrap' }).session.endsAt.getTime()).toBe(
    clock.now().getTime() + 7 * DAY,
  )
})
