import { join } from 'node:path'
import { asAdmin, databaseUrl, PROJECT_ROOT, spawnMain } from '@jadwal/testkit'
import { randomBytes } from 'node:crypto'
import { expect, inject, onTestFinished, test } from 'vitest'
import { migrateCommand } from '../src/migrate-command.ts'
import { migrate, openDatabase, readScheduleRevision } from '../src/index.ts'
import { NOON } from './facts.ts'

const MIGRATE = join(PROJECT_ROOT, 'packages', 'db', 'dist', 'migrate.js')

async function emptyDatabase(): Promise<string> {
  const admin = inject('postgresUrl')
  const name = `empty_${randomBytes(6).toString('hex')}`
  await asAdmin(admin, `CREATE DATABASE ${name}`)
  onTestFinished(() => asAdmin(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  return databaseUrl(admin, name)
}

test('of several that migrate an empty database at once, one does it; all end well', async () => {
  const options = { url: await emptyDatabase(), schema: 'elsewhere', now: NOON }
  const done = await Promise.all([1, 2, 3].map(() => migrate(options)))
  expect(done.filter((names) => names.length > 0)).toHaveLength(1)
  expect(await migrate(options)).toEqual([])

  const db = openDatabase({ url: options.url, schema: 'elsewhere', max: 1 })
  expect(await readScheduleRevision(db)).toBe(0)
  await db.destroy()
})

test('the command says in one line what it did', async () => {
  const url = await emptyDatabase()
  const first = spawnMain(MIGRATE, { DATABASE_URL: url })
  expect(await first.exitCode()).toBe(0)
  expect(first.logs).toEqual([
    expect.stringMatching(
      /^jadwal migrate: schema jadwal of 127.0.0.1:\S+ is up to date, after \d+ migrations, the last \S+$/,
    ),
  ])
  const second = spawnMain(MIGRATE, { DATABASE_URL: url })
  expect(await second.exitCode()).toBe(0)
  expect(second.logs).toEqual([expect.stringMatching(/ was up to date$/)])
})

test.each([
  ['an address that is none', { DATABASE_URL: 'mysql://x' }, /DATABASE_URL must be postgres:/],
  ['a schema that is none', { JADWAL_DB_SCHEMA: 'Ä' }, /JADWAL_DB_SCHEMA must match/],
])('%s is one message and exit code 78', async (_what, env, message) => {
  const command = spawnMain(MIGRATE, env)
  expect(await command.exitCode()).toBe(78)
  expect(command.logs).toEqual([expect.stringMatching(message)])
})

test('a database that does not exist is one message and exit code 78', async () => {
  const url = databaseUrl(inject('postgresUrl'), 'nowhere')
  const command = spawnMain(MIGRATE, { DATABASE_URL: url })
  expect(await command.exitCode()).toBe(78)
  expect(command.logs).toEqual([expect.stringContaining('database "nowhere" does not exist')])
})

/** A port that no test is given: nobody listens there. */
const NOBODY = 1

test('a Postgres that does not answer is waited for, then one message and exit code 69', async () => {
  const said: [line: string, stream: string][] = []
  const code = await migrateCommand(
    { DATABASE_URL: `postgres://jadwal:hidden@127.0.0.1:${NOBODY}/jadwal` },
    { patienceMs: 600, say: (line, stream) => void said.push([line, stream]) },
  )
  expect(code).toBe(69)
  expect(said).toEqual([[expect.stringContaining('for 0.6 s: connect ECONNREFUSED'), 'stderr']])
  expect(said[0]?.[0]).toContain(
    `no answer from Postgres at 127.0.0.1:${NOBODY}/jadwal (DATABASE_URL)`,
  )
  expect(said[0]?.[0]).not.toContain('hidden')
})
