import { ConfigError } from '@jadwal/runtime'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { setupApi, TOKEN } from './setup-api.ts'

const PUBLIC = { JADWAL_PUBLIC_URL: 'https://example.com/jobs/' }
const signIn = { method: 'POST', body: new URLSearchParams({ token: TOKEN, next: '/metrics' }) }

describe('below a path of its public address', () => {
  test('everything is served whether the proxy takes the path off or not', async () => {
    await using api = await setupApi(PUBLIC)
    for (const base of ['', '/jobs']) {
      expect((await api.ask(`${base}/healthz`)).status).toBe(200)
      expect((await api.ask(`${base}/api/v1/queues`)).body.items).toEqual([])
      expect((await api.ask(`${base}/queues`)).text).toContain('<base href="/jobs/queues/"')
      expect((await api.ask(`${base}/`)).text).toContain('<base href="/jobs/" />')
    }
    expect((await api.ask('/jobs')).status).toBe(200)
    expect((await api.ask('/jobs?a=1')).status).toBe(200)
    expect((await api.ask('/jobsx')).status).toBe(404)
    expect((await api.ask('/jobs/jobs/')).status).toBe(404)
  })

  test('the session, and every place that an answer names, is below it', async () => {
    await using api = await setupApi(PUBLIC)
    const { headers } = await api.ask('/jobs/login', signIn)
    expect(headers.get('location')).toBe('/jobs/metrics')
    expect(headers.get('set-cookie')).toMatch(/; Path=\/jobs\/?;/)
    expect((await api.ask('/login', signIn)).headers.get('location')).toBe('/jobs/metrics')
    const asked = { authorization: '', accept: 'text/html' }
    const form = await api.ask('/jobs/api-that-is-not-there?a=b', { headers: asked })
    expect(form.status).toBe(401)
    expect(form.text).toContain('value="/api-that-is-not-there?a=b"')
    expect(form.text).toContain('action="login"')
  })

  test('without a path nothing is put before anything', async () => {
    await using api = await setupApi({ JADWAL_PUBLIC_URL: 'https://example.com' })
    expect((await api.ask('/login', signIn)).headers.get('location')).toBe('/metrics')
    expect((await api.ask('/')).text).toContain('<base href="/" />')
  })

  test.each([
    ['https://example.com/api/', /begins as one of Jadwal's own, \/api/],
    ['https://example.com/queues', /begins as one of Jadwal's own/],
    ['https://example.com/a b', /must have a path of letters/],
    ['https://example.com/jobs?x=1', /neither a user nor a query nor a fragment/],
    ['https://me@example.com/jobs', /neither a user/],
    ['ftp://example.com', /must be the address that people open/],
  ])('%s is refused', (url, message) => {
    const env = { JADWAL_ADMIN_TOKEN: TOKEN, JADWAL_PUBLIC_URL: url }
    expect(() => readConfig(env)).toThrow(ConfigError)
    expect(() => readConfig(env)).toThrow(message)
  })
})
