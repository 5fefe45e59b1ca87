import { migrate } from '@jadwal/db'
import { redriveRunId } from '@jadwal/domain'
import { keys } from '@jadwal/queue'
import {
  asAdmin,
  databaseUrl,
  eventually,
  startTestPostgres,
  startTestRedis,
  TEMPLATE_DATABASE,
} from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { apiClient, type Ask } from '../support/api-client.ts'
import { cutTail } from '../support/cut-tail.ts'
import { JOBS, setupSystem, type SystemOptions } from '../support/system.ts'

const IN_TIME = { timeoutMs: 90_000, everyMs: 250 }

/** A system whose runs die until they are cured. */
async function setup(options: SystemOptions = {}) {
  const system = await setupSystem(options)
  const { database, prefix, producer, redis, start } = system
  const api = start('api')
  await Promise.all([start('recorder').ready, api.ready])
  const ask: Ask = apiClient(api, 'test-admin-token')
  const die = async (count: number): Promise<string[]> =>
    await producer.enqueueMany(
      JOBS.sick,
      Array.from({ length: count }, (_, n) => ({ n })),
    )
  const cure = () => redis.set(`${prefix}:cured`, 'yes')
  const rowsOf = async (ids: readonly string[]) => {
    const wanted = new Set(ids)
    const rows = await database.db
      .selectFrom('runs')
      .select(['id', 'state', 'redrive_of'])
      .execute()
    return rows.filter(({ id }) => wanted.has(id))
  }
  /** Resolves when all of these have a row in the state. */
  const allAre = async (state: string, ids: readonly string[]): Promise<void> =>
    await eventually(async () => {
      const rows = await rowsOf(ids)
      expect(rows.filter((row) => row.state === state)).toHaveLength(ids.length)
    }, IN_TIME)
  const redriveOf = async (body: object): Promise<string> => {
    const answer = await ask('POST', '/dead-letters/redrive', body)
    expect(answer.status).toBe(202)
    return `/redrives/${String(answer.body['id'])}`
  }
  const becomes = async (path: string, state: string) =>
    await eventually(async () => {
      const { body } = await ask('GET', path)
      expect(body).toMatchObject({ state })
      return body
    }, IN_TIME)
  const timesExecuted = async (ids: readonly string[]): Promise<number[]> => {
    const runs = (await system.executions()).map(({ runId }) => runId)
    return ids.map((id) => runs.filter((run) => run === id).length)
  }
  return { ...system, ask, die, cure, allAre, redriveOf, becomes, timesExecuted, rowsOf }
}

const redriven = (ids: readonly string[]): string[] => ids.map((id) => redriveRunId(id))

test('a canary that dies of the same cause stops its redrive; one that does not is followed by all', async () => {
  const t = await setup()
  await Promise.all([t.start('worker').ready, t.start('scheduler').ready])
  const ids = await t.die(30)
  await t.allAre('dead', ids)
  const groups = (await t.ask('GET', '/dead-letters/groups')).body['items']
  expect(groups).toMatchObject([{ job: JOBS.sick.name, count: 30 }])
  const [{ fingerprint }] = groups as [{ fingerprint: string }]

  const stopped = await t.becomes(
    await t.redriveOf({ filter: { fingerprint }, canary: true }),
    'stopped',
  )
  expect(stopped).toMatchObject({ step: 1, redriven: 1, returned: { fingerprint } })
  const { run } = stopped['returned'] as { run: string }
  expect(redriven(ids)).toContain(run)
  expect(await t.deadLetters()).toHaveLength(30)

  await t.cure()
  const done = await t.becomes(await t.redriveOf({ all: true, canary: true }), 'done')
  expect(done).toMatchObject({ step: 3, letters: 30, redriven: 30, refused: 0 })
  expect(await t.deadLetters()).toEqual([])
  const again = ids.map((id) => (redriveRunId(id) === run ? redriveRunId(run) : redriveRunId(id)))
  await t.allAre('succeeded', again)
  expect(await t.timesExecuted(again)).toEqual(again.map(() => 1))
})

test('a leader killed in the middle of a redrive of 2,000: each letter has exactly one new run', async () => {
  const t = await setup()
  const worker = t.start('worker')
  await worker.ready
  const ids = await t.die(2_000)
  await t.allAre('dead', ids)
  await worker.stop()
  const leader = t.start('scheduler')
  await leader.ready
  await leader.waitForLog('leading')
  await t.start('scheduler').ready

  const path = await t.redriveOf({ all: true, rate: 1_000 })
  await eventually(async () => expect((await t.deadLetters()).length).toBeLessThan(2_000), {
    timeoutMs: 30_000,
    everyMs: 1,
  })
  await leader.kill()
  expect((await t.deadLetters()).length).toBeGreaterThan(0)
  expect(await t.becomes(path, 'done')).toMatchObject({ redriven: 2_000, refused: 0 })
  expect(await t.deadLetters()).toEqual([])
  const waiting = await t.redis.lrange(keys.bullKey(t.prefix, 'faults', 'wait'), 0, -1)
  expect(waiting.toSorted()).toEqual(redriven(ids).toSorted())
  await t.cure()
  await t.start('worker').ready
  await t.allAre('succeeded', redriven(ids))
  expect(await t.redis.llen(`${t.prefix}:executions`)).toBe(4_000)
}, 300_000)

test('Postgres away while runs die and are redriven, and Redis killed with the end of its log lost: nothing is lost between them', async () => {
  const postgres = await startTestPostgres()
  onTestFinished(() => postgres[Symbol.asyncDispose]())
  await asAdmin(postgres.url, `CREATE DATABASE ${TEMPLATE_DATABASE}`)
  const template = databaseUrl(postgres.url, TEMPLATE_DATABASE)
  await migrate({ url: template, schema: 'jadwal', now: new Date() })
  const redis = await startTestRedis()
  onTestFinished(() => redis[Symbol.asyncDispose]())
  const t = await setup({ databaseUrl: postgres.url, redisUrl: redis.url })
  await t.start('worker').ready
  const early = await t.die(20)
  await t.allAre('dead', early)

  await postgres.stop()
  const late = await t.die(100)
  await eventually(async () => expect(await t.deadLetters()).toHaveLength(120), IN_TIME)
  await t.cure()
  const ids = [...early, ...late]
  const redrive = async (some: readonly string[]): Promise<void> =>
    await eventually(async () => {
      const { status, body } = await t.ask('POST', '/dead-letters/redrive', { ids: some })
      expect(status).toBe(200)
      expect(body['items']).toEqual(some.map((id) => ({ id, redrivenAs: redriveRunId(id) })))
    }, IN_TIME)
  await redrive(ids.slice(0, 60))
  // What is written from here on may be lost.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  await redrive(ids.slice(60, 90))
  // One in hand could outlive the loss of the note that it was executed.
  await eventually(async () => {
    const executed = await t.timesExecuted(redriven(ids.slice(0, 90)))
    expect(executed.every((times) => times >= 1)).toBe(true)
    expect(await t.redis.llen(keys.bullKey(t.prefix, 'faults', 'active'))).toBe(0)
  }, IN_TIME)
  await redis.kill()
  cutTail(redis, 20_000)
  await redis.start()
  // Who got an answer asks again, as who got none.
  await redrive(ids)
  await redrive(ids)
  expect(await t.deadLetters()).toEqual([])

  await postgres.start()
  await t.allAre('dead', ids)
  await t.allAre('succeeded', redriven(ids))
  await eventually(async () => {
    const settled = await t.database.db.selectFrom('settled_letters').select('run_id').execute()
    expect(settled).toHaveLength(ids.length)
  }, IN_TIME)
  expect((await t.timesExecuted(redriven(ids))).every((times) => times >= 1)).toBe(true)
}, 300_000)
