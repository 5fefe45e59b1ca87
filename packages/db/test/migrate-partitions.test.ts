import { randomBytes } from 'node:crypto'
import { DAY, revision } from '@jadwal/domain'
import { asAdmin, databaseUrl } from '@jadwal/testkit'
import { Migrator, sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import {
  dropPartitions,
  ensurePartitions,
  findRun,
  migrate,
  openDatabase,
  recordFacts,
} from '../src/index.ts'
import { migrateCommand } from '../src/migrate-command.ts'
import { migrations } from '../src/migrations/index.ts'
import { attemptFact, lines, NOON, runFact, runId } from './facts.ts'

const SCHEMA = 'jadwal'
const [FIRST = ''] = Object.keys(migrations)

/** A database of the first release: its one migration, days with rows, and rows without a day. */
async function setupFirstRelease() {
  const admin = inject('postgresUrl')
  const name = `old_${randomBytes(6).toString('hex')}`
  await asAdmin(admin, `CREATE DATABASE ${name}`)
  onTestFinished(() => asAdmin(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  const url = databaseUrl(admin, name)
  const db = openDatabase({ url, schema: SCHEMA, max: 2 })
  onTestFinished(() => db.destroy())
  await sql`CREATE SCHEMA jadwal`.execute(db)
  const migrating = openDatabase({ url, schema: SCHEMA, max: 1 })
  await migrating.connection().execute(async (connection) => {
    await sql`SELECT set_config('search_path', ${SCHEMA}, false)`.execute(connection)
    const { error } = await new Migrator({
      db: connection,
      provider: { getMigrations: () => Promise.resolve(migrations) },
      migrationTableSchema: SCHEMA,
    }).migrateTo(FIRST)
    if (error !== undefined) throw error
    await ensurePartitions(connection, { now: NOON, daysAhead: 1 })
  })
  await migrating.destroy()
  const dayless = runId(new Date(NOON.getTime() + 10 * DAY))
  const inDay = runId()
  for (const id of [inDay, dayless]) {
    await sql`INSERT INTO jadwal.runs (id, revision, state, job, queue, payload, enqueued_at, attempt)
      VALUES (${id}, ${revision(1, 'running')}, 'running', 'email.send', 'emails', '{}', ${NOON}, 1)`.execute(
      db,
    )
    await sql`INSERT INTO jadwal.attempts (run_id, attempt, state, started_at)
      VALUES (${id}, 1, 'running', ${NOON})`.execute(db)
  }
  return { url, db, inDay, dayless }
}

test('days that the first release made, and their rows, take what later ones write', async () => {
  const { url, db, inDay, dayless } = await setupFirstRelease()
  expect(await migrate({ url, schema: SCHEMA, now: NOON })).not.toContain(FIRST)

  for (const id of [inDay, dayless]) {
    await recordFacts(
      db,
      lines(
        attemptFact({ id, attempt_state: 'cancelled' }),
        runFact({
          id,
          state: 'cancelled',
          reason: 'cancelled',
          attempt: 1,
          finished_at: NOON.toISOString(),
          backfill_id: '0190a1b2-0000-7000-8000-000000000000',
        }),
      ),
    )
    expect(await findRun(db, id)).toMatchObject({
      run: { state: 'cancelled', backfill_id: expect.any(String) as string },
      attempts: [{ state: 'cancelled' }],
    })
  }
  const { rows } = await sql<{ table: string }>`
    SELECT tableoid::regclass::text AS table FROM jadwal.attempts WHERE state = 'cancelled' ORDER BY 1`.execute(
    db,
  )
  expect(rows.map(({ table }) => table)).toEqual([
    'jadwal.attempts_20260901',
    'jadwal.attempts_default',
  ])
})

test('after migrating, days are made, taken over from the default partition, and dropped', async () => {
  const { url, db, inDay, dayless } = await setupFirstRelease()
  await migrate({ url, schema: SCHEMA, now: NOON })
  const later = new Date(NOON.getTime() + 10 * DAY)
  const made = await ensurePartitions(db, { now: later, daysAhead: 0 })
  expect(made).toContain('attempts_20260911')
  const { rows } = await sql<{ table: string }>`
    SELECT tableoid::regclass::text AS table FROM jadwal.runs WHERE id = ${dayless}`.execute(db)
  expect(rows).toEqual([{ table: 'jadwal.runs_20260911' }])

  const dropped = await dropPartitions(db, { now: later, retentionDays: 2 })
  expect(dropped).toEqual(expect.arrayContaining(['runs_20260901', 'attempts_20260901']))
  // It is unfinished: it lives on in the default partition, with its attempt.
  expect(await findRun(db, inDay)).toMatchObject({ run: { state: 'running' }, attempts: [{}] })
})

test('each migration is a transaction of its own, and none is left half done', async () => {
  const { url, db } = await setupFirstRelease()
  const done = await migrate({ url, schema: SCHEMA, now: NOON })
  const { rows } = await sql<{ transactions: number; unchecked: number }>`
    SELECT count(DISTINCT xmin::text)::int AS transactions,
      (SELECT count(*)::int FROM pg_constraint WHERE NOT convalidated) AS unchecked
    FROM jadwal.kysely_migration`.execute(db)
  expect(rows).toEqual([{ transactions: done.length + 1, unchecked: 0 }])
})

test('a migration gives up a lock that it does not get, rather than hold up others, and goes on later', async () => {
  const { url, db } = await setupFirstRelease()
  const said: string[] = []
  const code = await db.transaction().execute(async (reader) => {
    await sql`SELECT FROM jadwal.attempts`.execute(reader)
    const options = { patienceMs: 0, say: (line: string) => void said.push(line) }
    return migrateCommand({ DATABASE_URL: url, JADWAL_DB_SCHEMA: SCHEMA }, options)
  })
  expect([code, said]).toEqual([69, [expect.stringContaining('is in use, its lock was not to be')]])
  const rest = await migrate({ url, schema: SCHEMA, now: NOON })
  expect(rest[0]).toContain('let-attempts-be-cancelled')
  expect(rest.at(-1)).toBe(Object.keys(migrations).at(-1))
})
