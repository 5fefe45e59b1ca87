import { MINUTE } from '@jadwal/domain'
import { newToken } from '@jadwal/runtime'
import { FakeClock } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { BoundedCounts } from '../src/bounded-counts.ts'
import { setupApi, TOKEN, type TestApi } from './setup-api.ts'

const login = (api: TestApi, token: string, from = '198.51.100.1') =>
  api.ask('/login', {
    method: 'POST',
    headers: { authorization: '', 'x-forwarded-for': from },
    body: new URLSearchParams({ token }),
  })
const ask = (api: TestApi, token: string) =>
  api.ask('/api/v1/workers', {
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': '198.51.100.1' },
  })

test('after ten wrong tokens an address has to wait, others do not', async () => {
  await using api = await setupApi()
  for (let failures = 0; failures < 5; failures += 1) {
    expect((await login(api, 'wrong')).status).toBe(401)
    expect((await ask(api, 'wrong')).status).toBe(401)
  }
  for (const refused of [await ask(api, 'wrong'), await login(api, 'wrong')]) {
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(refused.body).toMatchObject({ type: 'urn:jadwal:problem:too-many-failures' })
  }
  expect((await login(api, 'wrong', '198.51.100.2')).status).toBe(401)
  expect((await login(api, TOKEN, '198.51.100.2')).status).toBe(303)
  const { text } = await api.ask('/metrics', { headers: { 'x-forwarded-for': '198.51.100.3' } })
  for (const counted of ['wrong-token"} 11', 'slowed-down"} 2', 'signed-in"} 1'])
    expect(text).toContain(`jadwal_sign_ins_total{outcome="${counted}\n`)
})

test('a person who tried too often is told so on a page', async () => {
  await using api = await setupApi()
  for (let failures = 0; failures < 10; failures += 1) await ask(api, 'wrong')
  const headers = { authorization: '', accept: 'text/html', 'x-forwarded-for': '198.51.100.1' }
  const body = new URLSearchParams({ token: 'wrong' })
  const refused = await api.ask('/login', { method: 'POST', headers, body })
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(refused.text).toContain('More than 10 wrong tokens')
})

test('an address that nobody trusted tells of does not help', async () => {
  await using api = await setupApi({ JADWAL_TRUSTED_PROXIES: 'none' })
  for (let failures = 0; failures < 10; failures += 1)
    expect((await login(api, 'wrong', `198.51.100.${failures}`)).status).toBe(401)
  expect((await login(api, 'wrong', '198.51.100.99')).status).toBe(429)
})

test('a trusted peer that makes addresses up is held up too', async () => {
  await using api = await setupApi()
  const statuses = new Set<number>()
  for (let failures = 0; failures < 201; failures += 1)
    statuses.add((await login(api, 'wrong', `198.51.${failures}.1`)).status)
  expect([...statuses]).toEqual([401, 429])
  expect((await login(api, TOKEN, '198.51.0.1')).status).toBe(429)
})

test('however many addresses fail, a bounded number is counted', () => {
  const clock = new FakeClock()
  const counts = new BoundedCounts(MINUTE, clock)
  for (let at = 0; at < 30_000; at += 1) counts.increment(`address-${at}`)
  expect(counts.size).toBe(10_000)
  expect(counts.increment('address-29999').totalHits).toBe(2)
  expect(counts.hits('address-29999')).toBe(2)
  clock.advance(MINUTE)
  expect(counts.hits('address-29999')).toBe(0)
  expect(counts.increment('address-29999').totalHits).toBe(1)
})

test('whoever guesses does not learn from the eleventh on that a guess is right', async () => {
  await using api = await setupApi({
    JADWAL_METRICS_TOKEN: 'of-metrics',
    JADWAL_VIEWER_TOKEN: 'of-the-workers-all',
  })
  for (let failures = 0; failures < 10; failures += 1) await ask(api, 'wrong')
  for (const right of [TOKEN, 'of-the-workers-all']) {
    expect((await ask(api, right)).status).toBe(429)
    expect((await login(api, right)).status).toBe(429)
  }
  const from = { 'x-forwarded-for': '198.51.100.1' }
  const metrics = { ...from, authorization: 'Bearer of-metrics' }
  expect((await api.ask('/metrics', { headers: metrics })).status).toBe(429)
  // Nobody finds out one of 256 bits.
  expect((await ask(api, `jdw_${'a'.repeat(43)}`)).status).toBe(429)
  const made = await api.ask('/api/v1/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ci', role: 'viewer' }),
  })
  expect((await ask(api, String(made.body.token))).status).toBe(200)
})

test('whoever sends the right token is not held up, nor who sends none', async () => {
  await using api = await setupApi()
  for (let at = 0; at < 15; at += 1) {
    expect((await login(api, TOKEN)).status).toBe(303)
    expect((await api.ask('/', { headers: { authorization: '' } })).status).toBe(401)
  }
  for (let at = 0; at < 9; at += 1) await ask(api, 'wrong')
  expect((await ask(api, TOKEN)).status).toBe(200)
})

test('tokens of the environment that were made and not thought up are looked at from everywhere', async () => {
  const made = newToken()
  const viewer = newToken()
  await using api = await setupApi({ JADWAL_ADMIN_TOKEN: made, JADWAL_VIEWER_TOKEN: viewer })
  for (let failures = 0; failures < 12; failures += 1) await ask(api, 'wrong')
  expect((await ask(api, 'wrong')).status).toBe(429)
  expect((await ask(api, made)).status).toBe(200)
  expect((await ask(api, viewer)).status).toBe(200)
  expect((await login(api, made)).status).toBe(303)
})
