import { randomBytes } from 'node:crypto'
import { type Database, openDatabase } from '@jadwal/db'
import type { Kysely } from 'kysely'
import pg from 'pg'

/** The database that the global setup migrates once; tests clone it. */
export const TEMPLATE_DATABASE = 'jadwal_template'

export interface TestDatabase extends AsyncDisposable {
  /** For `openDatabase` and for `DATABASE_URL` of a service; the schema is `jadwal`. */
  readonly url: string
  readonly name: string
  /** A small pool on it, closed with the test. */
  readonly db: Kysely<Database>
}

/** A migrated database of the test's own, cloned from the template. */
export async function createTestDatabase(adminUrl: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await asAdmin(adminUrl, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE}`)
  const url = databaseUrl(adminUrl, name)
  const db = openDatabase({ url, schema: 'jadwal', max: 4 })
  return {
    url,
    name,
    db,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await asAdmin(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

/** The address of another database on the same server. */
export function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Runs one statement as the superuser. */
export async function asAdmin(adminUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
