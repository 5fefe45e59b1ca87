import { randomBytes } from 'node:crypto'
import { createClient } from '@jadwal/sdk'
import { eventually, redisText, type ServiceProcess } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { bundle } from '../support/bundle-jobs.ts'
import { keepers, talkers } from '../support/payload-jobs.ts'
import { setupSystem } from '../support/system.ts'

const KEYS = `k2:${randomBytes(32).toString('base64')},k1:${randomBytes(32).toString('base64')}`
const PIN = 'canary-4111-8817'
const SECRET_PIN = 'canary-0451-9923'
const WAYS = ['ok', 'retry', 'dead', 'parent'] as const

async function setup() {
  const system = await setupSystem({
    env: {
      JADWAL_JOBS: await bundle('support/payload-jobs.ts'),
      JADWAL_ENCRYPTION_KEYS: KEYS,
      JADWAL_LOG_LEVEL: 'debug',
    },
  })
  const { start, env, prefix, redisUrl } = system
  const services = [
    start('worker', { JADWAL_SECRET_PIN: SECRET_PIN }),
    start('recorder'),
    start('scheduler'),
    start('api'),
  ]
  await Promise.all(services.map(({ ready }) => ready))
  const [, , , api] = services as [ServiceProcess, ServiceProcess, ServiceProcess, ServiceProcess]
  const ask = apiClient(api, env.JADWAL_ADMIN_TOKEN)
  const client = createClient({ redisUrl, prefix, encryptionKeys: KEYS })
  onTestFinished(() => client.close())
  const logs = (): string => services.flatMap((service) => service.logs).join('\n')
  return { ...system, ask, client, logs }
}

/** Runs of a job that end in every way, are delayed, cancelled, redriven, and made by a schedule. */
async function makeRuns(
  { client, ask, ended }: Awaited<ReturnType<typeof setup>>,
  jobs: typeof talkers,
): Promise<void> {
  for (const job of jobs)
    for (const how of WAYS) await client.enqueue(job, { how, pin: PIN, order: `order-${how}` })
  const [job] = jobs
  if (!job) throw new Error('no job')
  const later = await client.enqueue(job, { how: 'ok', pin: PIN }, { delayMs: 3_600_000 })
  // 4 ways and 2 children each.
  await ended(jobs.length * 6, 90_000)
  expect(await ask('POST', `/runs/${later}/cancel`)).toMatchObject({ status: 202 })
  const put = await ask('PUT', '/schedules/sometimes', {
    job: job.name,
    cron: '0 0 1 1 *',
    timezone: 'Etc/UTC',
    payload: { how: 'ok', pin: { secret: 'PIN' } },
  })
  expect([200, 201]).toContain(put.status)
  const trigger = async (body: object) =>
    expect(await ask('POST', '/schedules/sometimes/trigger', body)).toMatchObject({ status: 202 })
  await trigger({ overlap: 'allow' })
  await trigger({ overlap: 'allow', payload: { how: 'ok', pin: PIN } })
  const letters = await ask('GET', '/dead-letters')
  const dead = (letters.body['items'] as { id: string }[]).map(({ id }) => id)
  expect(dead).toHaveLength(jobs.length)
  expect(await ask('POST', '/dead-letters/redrive', { ids: dead })).toMatchObject({ status: 200 })
  await ended(jobs.length * 6 + 3 + dead.length, 60_000)
}

/** Everything that Postgres has, as text. */
async function postgresText({ database }: Awaited<ReturnType<typeof setup>>): Promise<string> {
  const tables = await sql<{ name: string }>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`.execute(database.db)
  const texts: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await sql<{
      row: string
    }>`SELECT t::text AS row FROM ${sql.raw(name)} AS t`.execute(database.db)
    texts.push(...rows.map(({ row }) => row))
  }
  return texts.join('\n')
}

async function answers({ ask, rows }: Awaited<ReturnType<typeof setup>>): Promise<string> {
  const all = [await ask('GET', '/runs?limit=200'), await ask('GET', '/dead-letters')]
  for (const { id } of await rows()) all.push(await ask('GET', `/runs/${id}`))
  all.push(await ask('GET', '/audit?limit=100'), await ask('GET', '/schedules/sometimes'))
  return JSON.stringify(all)
}

test('what a job redacts is nowhere in the history, the logs and the answers of the api', async () => {
  const system = await setup()
  await makeRuns(system, talkers)
  // The message of a run that waits has the value, and the api does not show it.
  const [job] = talkers
  const waiting =
    job && (await system.client.enqueue(job, { how: 'ok', pin: PIN }, { delayMs: 3_600_000 }))
  await eventually(async () =>
    expect(await system.ask('GET', `/runs/${waiting}`)).toMatchObject({
      body: { payload: { how: 'ok', pin: '[redacted]' } },
    }),
  )
  const history = await postgresText(system)
  expect(history).toContain('[redacted]')
  expect(history).toContain('the pin is ***')
  expect(history).toContain('order-retry')
  for (const text of [history, system.logs(), await answers(system)]) {
    expect(text).not.toContain(PIN)
    expect(text).not.toContain(SECRET_PIN)
  }
})

test('of an encrypted job payloads, results and progress are in clear text nowhere', async () => {
  const system = await setup()
  await makeRuns(system, keepers)
  const history = await postgresText(system)
  expect(history).toContain('$encrypted')
  expect(history).toContain('order-retry')
  for (const text of [history, system.logs(), await redisText(system.redis, system.prefix)]) {
    expect(text).not.toContain(PIN)
    expect(text).not.toContain(SECRET_PIN)
  }
  // Who may act sees them.
  expect(await answers(system)).toContain(PIN)
  const [job] = keepers
  const id = job && (await system.client.enqueue(job, { how: 'ok', pin: PIN }, { follow: true }))
  expect(await system.client.run(id ?? '').end({ timeoutMs: 30_000 })).toMatchObject({
    state: 'succeeded',
    result: { pin: PIN },
  })
})
