import { expect, test } from 'vitest'
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
  for (const refused of [await ask(api, 'wrong'), await login(api, TOKEN)]) {
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(refused.body).toMatchObject({ type: 'urn:jadwal:problem:too-many-failures' })
  }
  expect((await login(api, TOKEN, '198.51.100.2')).status).toBe(303)
})

test('whoever sends the right token is never held up, nor who sends none', async () => {
  await using api = await setupApi()
  for (let at = 0; at < 15; at += 1) {
    expect((await login(api, TOKEN)).status).toBe(303)
    expect((await api.ask('/', { headers: { authorization: '' } })).status).toBe(401)
  }
  for (let at = 0; at < 12; at += 1) await ask(api, 'wrong')
  expect((await ask(api, TOKEN)).status).toBe(200)
})
