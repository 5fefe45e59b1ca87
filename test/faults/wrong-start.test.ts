import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applySchedules } from '@jadwal/db'
import { createTestDatabase, spawnService } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { JOBS, setupSystem } from '../support/system.ts'

const EXIT = { config: 78, unavailable: 69 }

async function endOf(
  ...args: Parameters<typeof spawnService>
): Promise<{ code: number; said: string }> {
  const service = spawnService(...args)
  onTestFinished(() => service[Symbol.asyncDispose]())
  const code = await service.exitCode()
  return { code, said: service.logs.filter((line) => !line.startsWith('{')).join('\n') }
}

test('a wrong environment is one message that names every bad variable', async () => {
  const { code, said } = await endOf('worker', {
    REDIS_URL: 'http://example.com',
    JADWAL_QUEUES: 'emails:many',
    JADWAL_GRACE_MS: 'soon',
  })
  expect(code).toBe(EXIT.config)
  for (const variable of ['REDIS_URL', 'JADWAL_QUEUES', 'JADWAL_GRACE_MS'])
    expect(said).toContain(variable)
  expect(said).toContain('"soon"')
})

test('a service that can reach no Redis says so, and ends', async () => {
  const env = {
    REDIS_URL: 'redis://127.0.0.1:1',
    DATABASE_URL: inject('postgresUrl'),
    JADWAL_ADMIN_TOKEN: 'test-admin-token',
  }
  const services = ['worker', 'scheduler', 'recorder', 'api'] as const
  for (const { code, said } of await Promise.all(services.map((name) => endOf(name, env)))) {
    expect(code).toBe(EXIT.unavailable)
    expect(said).toContain('REDIS_URL')
    expect(said).toContain('127.0.0.1:1')
  }
})

test('a scheduler that can reach no Postgres says so, and ends', async () => {
  const { code, said } = await endOf('scheduler', {
    REDIS_URL: inject('redisUrl'),
    DATABASE_URL: 'postgres://someone:topsecret@127.0.0.1:1/nowhere',
  })
  expect(code).toBe(EXIT.unavailable)
  expect(said).toContain('DATABASE_URL')
  expect(said).not.toContain('topsecret')
})

test('an invalid schedule file names every problem, and nothing of it is applied', async () => {
  const { start, env, database } = await setupSystem()
  const worker = start('worker')
  await worker.ready
  const folder = mkdtempSync(join(tmpdir(), 'jadwal-schedules-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'schedules.yaml')
  writeFileSync(
    file,
    `version: 1
schedules:
  good: { job: fault.work, every: 1h }
  bad-minute: { job: fault.work, cron: '60 * * * *' }
  bad-zone: { job: fault.work, cron: '0 0 * * *', timezone: Mars/Olympus }
  bad-field: { job: fault.work, every: 1h, overlapp: skip }
`,
  )
  const { code, said } = await endOf('scheduler', { ...env, JADWAL_SCHEDULES: file })
  expect(code).toBe(EXIT.config)
  for (const part of ['bad-minute', '60', 'Mars/Olympus', 'overlapp']) expect(said).toContain(part)
  expect(await database.db.selectFrom('schedules').selectAll().execute()).toEqual([])

  writeFileSync(
    file,
    'version: 1\nschedules:\n  typo: { job: fault.wrok, every: 1h }\n  payload: { job: fault.work, every: 1h, payload: { ms: soon } }\n',
  )
  const second = await endOf('scheduler', { ...env, JADWAL_SCHEDULES: file })
  expect(second.code).toBe(EXIT.config)
  expect(second.said).toContain('fault.wrok')
  expect(second.said).toContain('fault.work')
  expect(second.said).toContain('schedules.payload.payload')
  expect(await database.db.selectFrom('schedules').selectAll().execute()).toEqual([])
})

test('once schedules are in force, a wrong file keeps no scheduler from starting', async () => {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const schedules = [{ name: 'good', input: { job: 'fault.work', every: '1h' } }]
  const change = { schedules, prune: false, source: 'file', author: 'test' } as const
  await applySchedules(database.db, change)
  const scheduler = spawnService('scheduler', {
    REDIS_URL: inject('redisUrl'),
    DATABASE_URL: database.url,
    JADWAL_PREFIX: `wrong-${randomUUID()}`,
    JADWAL_SCHEDULES: '/nowhere/schedules.yaml',
  })
  onTestFinished(() => scheduler.kill())
  await scheduler.ready
  expect(scheduler.logs.join('\n')).toContain('schedule file not applied')
})

test('a schedule file that is not there, or is not YAML, is one clear message', async () => {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const env = { REDIS_URL: inject('redisUrl'), DATABASE_URL: database.url }
  const missing = await endOf('scheduler', { ...env, JADWAL_SCHEDULES: '/nowhere/schedules.yaml' })
  expect(missing).toMatchObject({ code: EXIT.config })
  expect(missing.said).toContain('/nowhere/schedules.yaml')
})

test('a payload that breaks its schema ends as a dead letter that names the field', async () => {
  const { start, producer, ended, rows, deadLetters, executions } = await setupSystem()
  await Promise.all([start('recorder').ready, start('worker').ready])
  const id = await producer.enqueue(JOBS.work, { ms: 'soon' })
  await ended(1, 15_000)
  expect(await rows()).toMatchObject([{ id, state: 'dead', reason: 'invalid-payload', attempt: 1 }])
  expect(await deadLetters()).toEqual([id])
  expect(await executions()).toEqual([])
})
