import { ConfigError } from '@jadwal/runtime'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { listRoutes } from './list-routes.ts'
import { setupApi, TOKEN } from './setup-api.ts'

const OPEN = new Set(['/healthz', '/readyz', '/login', '/logout'])
const CLOSED = [
  ...listRoutes().filter((path) => !OPEN.has(path)),
  '/queues',
  '/queues/api/queues',
  '/queues/static/favicon-32x32.png',
  '/api/v1/nowhere',
  '/nowhere',
]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

describe('who may come in', () => {
  test('without the token every address is closed to every method, but the health pages', async () => {
    await using api = await setupApi()
    let asked = 0
    for (const authorization of ['', 'Bearer wrong', `Basic ${TOKEN}`, `Bearer ${TOKEN}x`]) {
      for (const path of CLOSED) {
        await Promise.all(
          METHODS.map(async (method) => {
            // Each from another address, so that no limit is met.
            const from = `198.51.${Math.floor(asked / 250)}.${asked++ % 250}`
            const headers = { authorization, 'x-forwarded-for': from }
            const { status } = await api.ask(path, { method, headers })
            // One that sends many wrong tokens is told to wait.
            const refused = authorization === '' || status !== 429 ? 401 : 429
            expect({ path, method, status }).toEqual({ path, method, status: refused })
          }),
        )
      }
      for (const path of ['/healthz', '/readyz'])
        expect((await api.ask(path, { headers: { authorization } })).status).toBe(200)
    }
  }, 60_000)

  test('the list of what is closed has what routers hold, deep and flat', () => {
    for (const path of ['/', '/metrics', '/api/v1/runs', '/api/v1/schedules/some-name/pause'])
      expect(CLOSED).toContain(path)
  })

  test('a person without the token gets a form and no data', async () => {
    await using api = await setupApi()
    const page = await api.ask('/', { headers: { authorization: '', accept: 'text/html' } })
    expect(page.status).toBe(401)
    expect(page.text).toContain('<form method="post" action="login">')
    expect(page.text).not.toMatch(/Bull Board|Leader/)
  })

  test('signing in makes a session, and a wrong token or a forged cookie none', async () => {
    await using api = await setupApi()
    const login = async (form: Record<string, string>) =>
      api.ask('/login', {
        method: 'POST',
        headers: { authorization: '' },
        body: new URLSearchParams(form),
      })
    expect((await login({ token: 'wrong' })).status).toBe(401)
    expect((await login({})).headers.get('set-cookie')).toBeNull()

    const signedIn = await login({ token: TOKEN, next: '/queues' })
    expect(signedIn.status).toBe(303)
    expect(signedIn.headers.get('location')).toBe('/queues')
    const [setCookie = '', setCsrf = ''] = signedIn.headers.getSetCookie()
    expect(setCookie).toMatch(
      /^jadwal_session=\S+; Path=\/; Expires=.* GMT; HttpOnly; SameSite=Strict$/,
    )
    expect(setCsrf).toMatch(/^XSRF-TOKEN=\S+; Path=\/; Expires=.* GMT; SameSite=Strict$/)
    expect(setCookie).not.toContain(TOKEN)

    const cookie = setCookie.split(';')[0] ?? ''
    const statusWith = async (sent: string) =>
      (await api.ask('/api/v1/runs', { headers: { authorization: '', cookie: sent } })).status
    expect(await statusWith(cookie)).toBe(200)
    for (const forged of [
      `${cookie}x`,
      cookie.replace(/=./, '=9'),
      'jadwal_session=',
      'jadwal_session=a.b',
      'jadwal_session=a.b.c',
    ])
      expect(await statusWith(forged)).toBe(401)
  })

  test.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'queues'])(
    'signing in does not lead to %s',
    async (next) => {
      await using api = await setupApi()
      const body = new URLSearchParams({ token: TOKEN, next })
      const { headers } = await api.ask('/login', { method: 'POST', body })
      expect(headers.get('location')).toBe('/')
    },
  )

  test('a session behind TLS is for TLS alone', async () => {
    await using api = await setupApi({ JADWAL_PUBLIC_URL: 'https://jobs.example.com' })
    const body = new URLSearchParams({ token: TOKEN })
    const { headers } = await api.ask('/login', { method: 'POST', body })
    expect(headers.get('set-cookie')).toContain('; Secure')
  })

  test('a metrics token opens the metrics and nothing else', async () => {
    await using api = await setupApi({ JADWAL_METRICS_TOKEN: 'scrape-only' })
    const headers = { authorization: 'Bearer scrape-only' }
    expect((await api.ask('/metrics', { headers })).status).toBe(200)
    expect((await api.ask('/api/v1/runs', { headers })).status).toBe(401)
    expect((await api.ask('/', { headers })).status).toBe(401)
  })

  test('JADWAL_VIEWER_TOKEN reads, by a name of its own, and makes no session', async () => {
    await using api = await setupApi({ JADWAL_VIEWER_TOKEN: 'of-the-workers-all' })
    const headers = { authorization: 'Bearer of-the-workers-all' }
    const me = await api.ask('/api/v1/me', { headers })
    expect(me.body).toEqual({ name: 'viewer', role: 'viewer', by: 'bootstrap' })
    expect((await api.ask('/api/v1/runs', { headers })).status).toBe(200)
    expect((await api.ask('/api/v1/tokens', { headers })).status).toBe(403)

    const body = new URLSearchParams({ token: 'of-the-workers-all' })
    const refused = { method: 'POST', body }
    const program = await api.ask('/login', refused)
    expect([program.status, program.headers.getSetCookie()]).toEqual([403, []])
    expect(program.body.detail).toContain('JADWAL_VIEWER_TOKEN is for programs')
    const person = await api.ask('/login', { ...refused, headers: { accept: 'text/html' } })
    expect([person.status, person.headers.getSetCookie()]).toEqual([403, []])
    expect(person.text).toContain('JADWAL_VIEWER_TOKEN is for programs')
  })

  test('an open api answers only to names of this machine', async () => {
    await using api = await setupApi({ JADWAL_AUTH: 'off', JADWAL_ADMIN_TOKEN: '' })
    expect((await api.ask('/api/v1/runs', { headers: { authorization: '' } })).status).toBe(200)
    const { request } = await import('node:http')
    const status = await new Promise((resolve) => {
      request(`${api.url}/api/v1/runs`, { headers: { host: 'evil.example' } }, (res) => {
        resolve(res.resume().statusCode)
      }).end()
    })
    expect(status).toBe(403)
  })

  test('in an open api, no page of another site can make a browser act', async () => {
    await using api = await setupApi({ JADWAL_AUTH: 'off', JADWAL_ADMIN_TOKEN: '' })
    const statusFrom = async (origin: string): Promise<number> => {
      const headers = { authorization: '', origin }
      return (await api.ask('/api/v1/leader/step-down', { method: 'POST', headers })).status
    }
    for (const origin of ['https://evil.example', 'http://localhost:1', 'null'])
      expect(await statusFrom(origin)).toBe(403)
    expect(await statusFrom(api.url)).toBe(409)
  })
})

describe('the environment', () => {
  test.each([
    [{}, /JADWAL_ADMIN_TOKEN must be set.*JADWAL_AUTH=off/],
    [{ JADWAL_AUTH: 'off' }, /JADWAL_HOST allows JADWAL_AUTH=off only on a loopback address/],
    [{ JADWAL_AUTH: 'off', JADWAL_HOST: '10.0.0.1' }, /loopback/],
    [{ JADWAL_AUTH: 'maybe' }, /JADWAL_AUTH must be "off"/],
    [{ JADWAL_ADMIN_TOKEN: 'a b' }, /JADWAL_ADMIN_TOKEN must have .*\(hidden\)/],
    [
      { JADWAL_ADMIN_TOKEN: TOKEN, JADWAL_VIEWER_TOKEN: 'short' },
      /JADWAL_VIEWER_TOKEN must have at least 16 .*\(hidden\)/,
    ],
    [
      { JADWAL_ADMIN_TOKEN: TOKEN, JADWAL_VIEWER_TOKEN: TOKEN },
      /JADWAL_VIEWER_TOKEN must differ from JADWAL_ADMIN_TOKEN/,
    ],
    [
      { JADWAL_ADMIN_TOKEN: TOKEN, REDIS_URL: 'redis://h/x' },
      /REDIS_URL database "x" must be a number/,
    ],
  ])('%j is refused', (env, message) => {
    expect(() => readConfig(env)).toThrow(ConfigError)
    expect(() => readConfig(env)).toThrow(message)
  })
})
