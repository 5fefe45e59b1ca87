import { type Kysely, Migrator, sql } from 'kysely'
import pg from 'pg'
import type { Database } from './database.ts'
import { migrations } from './migrations/index.ts'
import { openDatabase } from './open-database.ts'
import { ensurePartitions } from './partitions.ts'

export interface MigrateOptions {
  /** Straight to Postgres: PgBouncer would lose the session's lock and its search_path. */
  url: string
  schema: string
  now: Date
}

/** The leader keeps this many days ready; migrating makes as many, so that the first day is there at once. */
const DAYS_AHEAD = 3

/** Who waits for the lock of a table makes all others wait behind: better to give up and try again. */
const LOCK_WITHIN = '3s'

/**
 * Makes the schema and brings it up to date, then makes the first partitions. Idempotent; of several
 * at once one migrates and the others wait for it. Returns the names of the migrations it ran; throws
 * the first error, and then that migration has not happened and those before it have.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const client = new pg.Client({
    connectionString: options.url,
    connectionTimeoutMillis: 5_000,
    application_name: 'jadwal-migrate',
  })
  // The end of the connection shows in the statement that was waiting for an answer.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(`SELECT pg_advisory_lock(hashtext($1))`, [
      `jadwal migrate ${options.schema}`,
    ])
    await createSchema(client, options.schema)
    return await runMigrations(options)
  } finally {
    // The lock goes with its session.
    await client.end()
  }
}

async function createSchema(client: pg.Client, schema: string): Promise<void> {
  // Asked first, since CREATE SCHEMA IF NOT EXISTS wants the right to create one even where it exists.
  const { rows } = await client.query<{ exists: boolean }>(
    'SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS exists',
    [schema],
  )
  if (!rows[0]?.exists) await client.query(`CREATE SCHEMA ${client.escapeIdentifier(schema)}`)
}

async function runMigrations({ url, schema, now }: MigrateOptions): Promise<string[]> {
  const db = openDatabase({ url, schema, max: 1, queryTimeoutMs: 0 })
  try {
    return await db.connection().execute(async (connection) => {
      await sql`SELECT set_config('search_path', ${schema}, false)`.execute(connection)
      await sql`SELECT set_config('lock_timeout', ${LOCK_WITHIN}, false)`.execute(connection)
      const done = await migrateToLatest(connection, schema)
      await sql`SET lock_timeout = 0`.execute(connection)
      await ensurePartitions(connection, { now, daysAhead: DAYS_AHEAD })
      return done
    })
  } finally {
    await db.destroy()
  }
}

async function migrateToLatest(db: Kysely<Database>, schema: string): Promise<string[]> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
    migrationTableSchema: schema,
  })
  const done: string[] = []
  for (;;) {
    // One at a time: together they would be one transaction, which keeps each lock to the end.
    const { error, results = [] } = await migrator.migrateUp()
    if (error !== undefined) throw error
    if (results.length === 0) return done
    done.push(...results.map((result) => result.migrationName))
  }
}
