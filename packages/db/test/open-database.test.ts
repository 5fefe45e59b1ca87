import { createTestDatabase, eventually, startTestPgBouncer } from '@jadwal/testkit'
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openDatabase } from '../src/index.ts'

test('a connection that breaks in the middle of a transaction ends that, and not the process', async () => {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const db = openDatabase({ url: database.url, schema: 'jadwal', max: 1 })
  onTestFinished(() => db.destroy())
  const broken = db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(tx)
    await sql`SELECT pg_terminate_backend(${rows[0]?.pid})`.execute(database.db)
    await eventually(async () => {
      const answer = await sql`SELECT 1`.execute(tx).catch(() => 'gone')
      if (answer !== 'gone') throw new Error('the connection is there still')
    })
    await sql`SELECT 1`.execute(tx)
  })
  await expect(broken).rejects.toThrow(/terminat|not queryable|closed/i)
  await eventually(async () => {
    const { rows } = await sql<{ one: number }>`SELECT 1 AS one`.execute(db)
    expect(rows).toEqual([{ one: 1 }])
  })
})

const GIVEN_UP = Array.from({ length: 4 }, () => 'rejected')

/** Gives up statements that wait for a lock, over a pool of two, until Postgres does none of them any more. */
async function giveUp(way: (url: string) => Promise<string>): Promise<string[]> {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  await sql`CREATE TABLE held (n int)`.execute(database.db)
  const holder = await database.db.startTransaction().execute()
  await sql`LOCK TABLE held`.execute(holder)
  onTestFinished(() => holder.rollback().execute())
  const url = await way(database.url)
  const db = openDatabase({ url, schema: 'jadwal', max: 2, queryTimeoutMs: 400 })
  onTestFinished(() => db.destroy())
  const insert = sql`INSERT INTO held VALUES (1)`
  const ends = await Promise.allSettled([
    ...[1, 2, 3].map(() => insert.execute(db)),
    db.transaction().execute((tx) => insert.execute(tx)),
  ])
  await eventually(async () => {
    const { rows } = await sql`SELECT pid, query FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'INSERT INTO held%' AND state = 'active'`.execute(
      database.db,
    )
    expect(rows).toEqual([])
  })
  // A fresh connection may need longer than its statement has.
  await eventually(async () => {
    const { rows } = await sql<{ one: number }>`SELECT 1 AS one`.execute(db)
    expect(rows).toEqual([{ one: 1 }])
  })
  return ends.map(({ status }) => status)
}

test('a statement that is given up ends in Postgres too', async () => {
  expect(await giveUp((url) => Promise.resolve(url))).toEqual(GIVEN_UP)
})

test('a statement that is given up behind PgBouncer ends in Postgres too', async () => {
  expect(await giveUp(throughPgBouncer)).toEqual(GIVEN_UP)
})

async function throughPgBouncer(url: string): Promise<string> {
  const bouncer = await startTestPgBouncer(url)
  onTestFinished(() => bouncer[Symbol.asyncDispose]())
  return bouncer.url
}
