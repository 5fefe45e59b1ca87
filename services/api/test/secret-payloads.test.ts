import { openDatabase, recordFacts } from '@jadwal/db'
import { ENCRYPTED, isEnvelope, type JobDescription, REDACTED, type RunFact } from '@jadwal/domain'
import { keys, publishCatalogue } from '@jadwal/queue'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { bearer, makeToken } from './setup-access.ts'
import { type Answer, setupApi, type TestApi } from './setup-api.ts'
import { factOf } from './setup-history.ts'

const ENCRYPTING: JobDescription = {
  ...EMAIL_JOB,
  name: 'pay.out',
  queue: 'payments',
  encrypt: true,
}
const REDACTING: JobDescription = { ...EMAIL_JOB, redact: ['password'] }
const PAYLOAD = { to: 'ana@example.com', template: 'welcome' }
const JSON_HEADERS = { 'content-type': 'application/json' }

let api: TestApi
const headersOf: Record<string, Record<string, string>> = {}

beforeAll(async () => {
  api = await setupApi({ JADWAL_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` })
  await publishCatalogue(api.redis, api.prefix, [REDACTING, ENCRYPTING])
  for (const role of ['viewer', 'operator'])
    headersOf[role] = bearer((await makeToken(api, { name: `the-${role}`, role })).token)
})
afterAll(async () => api[Symbol.asyncDispose]())

const read = async (role: string, path: string): Promise<Answer> =>
  await api.ask(path, { headers: headersOf[role] ?? {} })

async function record(fact: RunFact): Promise<void> {
  const db = openDatabase({ url: api.databaseUrl, schema: 'jadwal', max: 1 })
  await recordFacts(db, [JSON.stringify(fact)])
  await db.destroy()
}

/** What a role is shown of a run, read alone and in a list. */
async function shownTo(role: string, id: string): Promise<unknown[]> {
  const alone = await read(role, `/api/v1/runs/${id}`)
  const list = await read(role, '/api/v1/runs?job=pay.out')
  const listed = (list.body.items as { id: string }[]).filter((run) => run.id === id)
  return [alone.body, ...listed].map(({ payload, result }) => ({ payload, result }))
}

test('an encrypted payload and result are opened for operators, alone and in lists, and for no viewer', async () => {
  const { body } = await api.post({ job: 'pay.out', payload: PAYLOAD })
  const data = await api.redis.hget(keys.bullKey(api.prefix, 'payments', body.id), 'data')
  const { payload } = JSON.parse(data ?? '') as { payload: unknown }
  expect(isEnvelope(payload)).toBe(true)

  const living = (await shownTo('viewer', body.id)) as { payload: unknown }[]
  expect(living.map((shown) => shown.payload)).toEqual([ENCRYPTED, ENCRYPTED])
  const open = (await shownTo('operator', body.id)) as { payload: unknown }[]
  expect(open.map((shown) => shown.payload)).toEqual([PAYLOAD, PAYLOAD])

  // In the history as well.
  await record(
    factOf('succeeded', {
      id: body.id,
      job: 'pay.out',
      queue: 'payments',
      payload,
      result: payload,
    }),
  )
  await api.redis.del(keys.bullKey(api.prefix, 'payments', body.id))
  const hidden = { payload: ENCRYPTED, result: ENCRYPTED }
  expect(await shownTo('viewer', body.id)).toEqual([hidden, hidden])
  for (const shown of (await shownTo('operator', body.id)) as { payload: unknown }[])
    expect(shown.payload).toEqual(PAYLOAD)
})

test('without a key, a job that encrypts is not enqueued', async () => {
  await using keyless = await setupApi()
  await publishCatalogue(keyless.redis, keyless.prefix, [ENCRYPTING])
  const { status, body } = await keyless.post({ job: 'pay.out', payload: PAYLOAD })
  expect([status, body.type]).toEqual([503, 'urn:jadwal:problem:no-encryption-key'])
  expect(body.detail).toContain('JADWAL_ENCRYPTION_KEYS')
  expect(await keyless.redis.keys(`*${keyless.prefix}*payments*`)).toEqual([])
})

test('a dead run whose letter is gone is not redriven without what its job redacts', async () => {
  const fact = factOf('dead', { payload: { ...PAYLOAD, password: REDACTED } })
  await record(fact)
  const { status, body } = await api.ask('/api/v1/dead-letters/redrive', {
    method: 'POST',
    headers: JSON_HEADERS,
    body: JSON.stringify({ ids: [fact.id] }),
  })
  expect(status).toBe(200)
  expect(body.items).toMatchObject([{ id: fact.id, refused: 'redacted' }])
})

/** Puts a schedule whose payload has this password. */
async function putSchedule(password: unknown): Promise<Answer> {
  return await api.ask('/api/v1/schedules/newsletter', {
    method: 'PUT',
    headers: JSON_HEADERS,
    body: JSON.stringify({
      job: 'email.send',
      cron: '0 6 * * *',
      payload: { ...PAYLOAD, password },
    }),
  })
}

test('a schedule that gives in clear what its job redacts is refused with the field', async () => {
  const { status, body, text } = await putSchedule('hunter-two')
  expect(status).toBe(422)
  expect(body.errors.map(({ field }: { field: string }) => field)).toEqual(['payload.password'])
  expect(text).not.toContain('hunter-two')
  expect((await putSchedule({ secret: 'MAIL' })).status).toBe(201)
})
