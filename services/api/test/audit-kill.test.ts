import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { openRedis, producerConnection, publishCatalogue } from '@jadwal/queue'
import { createTestDatabase, eventually, spawnService } from '@jadwal/testkit'
import { type Kysely, sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { auditFacts } from './setup-audit.ts'
import { EMAIL } from './setup-schedules.ts'
import { startTcpProxy } from './tcp-proxy.ts'

const ACTION = 'schedules.put'
const IN_TIME = { timeoutMs: 30_000 }

async function setup() {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const prefix = `audit-kill-${randomUUID()}`
  const redis = openRedis(producerConnection(inject('redisUrl')), () => undefined)
  onTestFinished(() => redis.disconnect())
  if (redis.status !== 'ready') await once(redis, 'ready')
  await publishCatalogue(redis, prefix, [EMAIL_JOB])
  const proxy = await startTcpProxy(inject('redisUrl'))
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  const token = randomUUID()
  const start = (name: 'api' | 'recorder', redisUrl = inject('redisUrl')) => {
    const service = spawnService(name, {
      REDIS_URL: redisUrl,
      DATABASE_URL: database.url,
      JADWAL_PREFIX: prefix,
      JADWAL_ADMIN_TOKEN: token,
    })
    onTestFinished(() => service[Symbol.asyncDispose]())
    return service
  }
  /** `to` is the port of an api and the method. */
  const send = async (to: string, path: string, body?: object): Promise<Response> => {
    const [port, method = ''] = to.split(' ')
    return await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  }
  const entries = async () =>
    (await auditFacts({ redis, prefix })).filter(({ audit }) => audit.action === ACTION)
  return { db: database.db, proxy, start, send, entries }
}

/** Keeps changes of schedules waiting until somebody waits and `meanwhile` was called. */
async function holdChanges<T>(db: Kysely<T>, meanwhile: () => void): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('jadwal schedules'))`.execute(tx)
    await eventually(async () => {
      const { rows } = await sql`SELECT FROM pg_locks JOIN pg_database AS d ON d.oid = database
        WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`.execute(db)
      expect(rows).toHaveLength(1)
    }, IN_TIME)
    meanwhile()
  })
}

test('an api killed between an act and the end of its entry: the act is done, and the log says that nobody knows how it ended', async () => {
  const { db, proxy, start, send, entries } = await setup()
  const doomed = start('api', proxy.wayTo(inject('redisUrl')))
  const port = await doomed.ready
  const put = send(`${port} PUT`, '/schedules/nightly', EMAIL).catch((error: unknown) => error)
  await holdChanges(db, proxy.freeze)
  const written = () => db.selectFrom('schedules').select('name').execute()
  await eventually(async () => expect(await written()).toEqual([{ name: 'nightly' }]), IN_TIME)
  await doomed.kill()
  // Answered or cut off: whoever asked does not wait on.
  await put
  const facts = await entries()
  expect(facts).toHaveLength(1)
  expect(facts[0]?.audit).not.toHaveProperty('status')

  const [next] = await Promise.all([start('api').ready, start('recorder').ready])
  await eventually(async () => {
    const answer = await send(`${next} GET`, `/audit?action=${ACTION}`)
    expect(await answer.json()).toMatchObject({
      items: [{ actor: 'admin', subject: 'schedules/nightly', request: EMAIL, status: 'unknown' }],
    })
  }, IN_TIME)
  expect(await (await send(`${next} GET`, '/schedules/nightly')).json()).toMatchObject({
    name: 'nightly',
    ...EMAIL,
  })
  const again = await send(`${next} PUT`, '/schedules/nightly', { ...EMAIL, cron: '0 7 * * *' })
  expect(again.status).toBe(200)
  await eventually(async () => {
    const answer = await send(`${next} GET`, `/audit?action=${ACTION}`)
    const { items } = (await answer.json()) as { items: { status: unknown }[] }
    expect(items.map(({ status }) => status)).toEqual([200, 'unknown'])
  }, IN_TIME)
}, 120_000)
