import { createHash } from 'node:crypto'
import { openDatabase } from '@jadwal/db'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { bearer, makeToken, signIn } from './setup-access.ts'
import { setupApi, type TestApi } from './setup-api.ts'
import { auditFacts, auditOf } from './setup-audit.ts'

const statusOf = async (api: TestApi, token: string, path = '/api/v1/me') =>
  (await api.ask(path, { headers: bearer(token) })).status

test('a token is shown once, kept as a hash, and says who one is', async () => {
  await using api = await setupApi()
  const { id, token, ...view } = await makeToken(api, {
    name: 'ci-deploy',
    role: 'operator',
    expiresInDays: 90,
  })
  expect(token).toMatch(/^jdw_[A-Za-z0-9_-]{43}$/)
  expect(view).toMatchObject({
    name: 'ci-deploy',
    role: 'operator',
    state: 'live',
    createdBy: 'admin',
  })
  const { body } = await api.ask('/api/v1/me', { headers: bearer(token) })
  expect(body).toMatchObject({ name: 'ci-deploy', role: 'operator', by: 'token', tokenId: id })

  const list = await api.ask('/api/v1/tokens')
  expect(list.body.items).toMatchObject([{ id, name: 'ci-deploy' }])
  expect(list.text).not.toContain(token)
  const db = openDatabase({ url: api.databaseUrl, schema: 'jadwal', max: 1 })
  const row = await db.selectFrom('tokens').selectAll().executeTakeFirstOrThrow()
  await db.destroy()
  expect(row.hash).toEqual(createHash('sha256').update(token).digest())
  expect(JSON.stringify(row)).not.toContain(token)

  const entry = await auditOf(api, 'tokens.create')
  expect(entry).toMatchObject({ actor: 'admin', subject: `tokens/${id}`, status: 201 })
  expect(entry.after).toMatchObject({ id, name: 'ci-deploy', role: 'operator' })
  expect(JSON.stringify(await auditFacts(api))).not.toContain(token)
})

test('a revoked token is good no longer, nor is a session that was made of it', async () => {
  await using api = await setupApi()
  const { id, token } = await makeToken(api, { name: 'ana', role: 'viewer' })
  const { cookie } = await signIn(api, token)
  const statusOfSession = async () =>
    (await api.ask('/api/v1/me', { headers: { authorization: '', cookie } })).status
  expect([await statusOf(api, token), await statusOfSession()]).toEqual([200, 200])
  const revoke = () => api.ask(`/api/v1/tokens/${id}`, { method: 'DELETE' })
  expect((await revoke()).status).toBe(204)
  expect([await statusOf(api, token), await statusOfSession()]).toEqual([401, 401])
  expect((await revoke()).status).toBe(204)
  const { body } = await api.ask('/api/v1/tokens')
  expect(body.items).toMatchObject([{ id, state: 'revoked', revokedBy: 'admin' }])
  // The name is free again.
  await makeToken(api, { name: 'ana', role: 'operator' })
})

test.each([
  [{ name: 'a b', role: 'viewer' }, 400, 'name must match'],
  [{ name: 'admin', role: 'viewer' }, 400, 'name must not be one of admin'],
  [{ name: 'viewer', role: 'viewer' }, 400, 'name must not be one of admin, viewer'],
  [{ name: 'x', role: 'root' }, 400, 'role must be one of viewer, operator, admin'],
  [{ name: 'x', role: 'viewer', expiresInDays: 0 }, 400, 'expiresInDays must be a whole number'],
  [{ name: 'x', role: 'viewer', token: 'mine' }, 400, 'token is not known'],
])('%j is refused', async (request, status, detail) => {
  await using api = await setupApi()
  const answer = await api.ask('/api/v1/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  expect(answer.status).toBe(status)
  expect(answer.body.detail).toContain(detail)
})

test('only admins see, make and revoke tokens, and a live name is taken', async () => {
  await using api = await setupApi()
  const operator = await makeToken(api, { name: 'op', role: 'operator' })
  const admin = await makeToken(api, { name: 'boss', role: 'admin' })
  const make = (token: string, name: string) =>
    api.ask('/api/v1/tokens', {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json' },
      body: JSON.stringify({ name, role: 'viewer' }),
    })
  expect((await make(operator.token, 'x')).status).toBe(403)
  expect(await statusOf(api, operator.token, '/api/v1/tokens')).toBe(403)
  const mine = await make(admin.token, 'x')
  expect(mine.body).toMatchObject({ name: 'x', createdBy: 'boss' })
  expect((await make(admin.token, 'x')).body.type).toBe('urn:jadwal:problem:name-taken')
  const revoke = { method: 'DELETE', headers: bearer(operator.token) }
  expect((await api.ask(`/api/v1/tokens/${admin.id}`, revoke)).status).toBe(403)
})

test('other apis hear of a new token and of a revoked one', async () => {
  await using here = await setupApi()
  await using there = await setupApi({
    DATABASE_URL: here.databaseUrl,
    JADWAL_PREFIX: here.prefix,
  })
  const { id, token } = await makeToken(here, { name: 'ana', role: 'viewer' })
  expect(await statusOf(there, token)).toBe(200)
  await here.ask(`/api/v1/tokens/${id}`, { method: 'DELETE' })
  await eventually(async () => expect(await statusOf(there, token)).toBe(401), { timeoutMs: 2_500 })
})

test('the last use of a token is noted, in the background', async () => {
  await using api = await setupApi()
  const { token } = await makeToken(api, { name: 'ana', role: 'viewer' })
  await statusOf(api, token)
  const lastUsedAt = async () => (await api.ask('/api/v1/tokens')).body.items[0].lastUsedAt
  const noted = await eventually(async () => {
    const at = await lastUsedAt()
    expect(at).toBeTypeOf('string')
    return at
  })
  await statusOf(api, token)
  expect(await lastUsedAt()).toBe(noted)
})

test('an expired token is good no longer, and its name is free', async () => {
  await using api = await setupApi()
  const { id, token } = await makeToken(api, { name: 'ana', role: 'viewer', expiresInDays: 1 })
  const db = openDatabase({ url: api.databaseUrl, schema: 'jadwal', max: 1 })
  const [created_at, expires_at] = [new Date(0), new Date(1)]
  await db.updateTable('tokens').set({ created_at, expires_at }).where('id', '=', id).execute()
  await db.destroy()
  await eventually(async () => expect(await statusOf(api, token)).toBe(401))
  await makeToken(api, { name: 'ana', role: 'viewer' })
  const { body } = await api.ask('/api/v1/tokens')
  expect(body.items.map(({ state }: { state: string }) => state)).toEqual(['live', 'expired'])
})
