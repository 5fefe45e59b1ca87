import { createTestDatabase, eventually } from '@jadwal/testkit'
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
