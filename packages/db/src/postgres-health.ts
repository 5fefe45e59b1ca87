import { type Clock, DAY, type PostgresHealth } from '@jadwal/domain'
import { sql } from 'kysely'
import type { Db } from './database.ts'
import { migrations } from './migrations/index.ts'
import { listPartitions } from './partitions.ts'
import { schemaOf } from './schema-plugin.ts'

/** Rows that are counted at most. */
const MOST_COUNTED = 10_001

/** Looks at a Postgres from here. Rejects when it does not answer. */
export async function readPostgresHealth(
  db: Db,
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
): Promise<PostgresHealth> {
  // The first one may have to open a connection.
  await sql`SELECT 1`.execute(db)
  const sentMs = clock.monotonicMs()
  const before = clock.now().getTime()
  const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now`.execute(db)
  const latencyMs = clock.monotonicMs() - sentMs
  const middle = (before + clock.now().getTime()) / 2
  const now = rows[0]?.now ?? new Date(middle)
  return {
    ...(await readServer(db)),
    latencyMs,
    skewMs: now.getTime() - middle,
    ...(await readTables(db, now)),
  }
}

type Server = Pick<
  PostgresHealth,
  'versionNumber' | 'maxConnections' | 'reservedConnections' | 'connections' | 'ownConnections'
>

async function readServer(db: Db): Promise<Server> {
  const { rows } = await sql<Server>`
    SELECT current_setting('server_version_num')::int AS "versionNumber",
      current_setting('max_connections')::int AS "maxConnections",
      current_setting('superuser_reserved_connections')::int AS "reservedConnections",
      count(*)::int AS connections,
      (count(*) FILTER (WHERE application_name LIKE 'jadwal%'))::int AS "ownConnections"
    FROM pg_stat_activity WHERE backend_type = 'client backend'`.execute(db)
  const [server] = rows
  if (!server) throw new Error('Postgres does not tell of itself')
  return server
}

type Tables = Pick<PostgresHealth, 'pendingMigrations' | 'withoutTomorrow' | 'defaultRows'>

async function readTables(db: Db, now: Date): Promise<Tables> {
  const done = await listMigrations(db)
  const pendingMigrations = Object.keys(migrations).filter((name) => !done.has(name))
  // Without the first ones there are no tables to look at.
  if (done.size === 0) return { pendingMigrations, withoutTomorrow: [], defaultRows: 0 }
  const tomorrow = new Date(now.getTime() + DAY).toISOString().slice(0, 10).replaceAll('-', '')
  const withoutTomorrow: string[] = []
  for (const table of ['runs', 'attempts'] as const)
    if (!(await listPartitions(db, table)).includes(`${table}_${tomorrow}`))
      withoutTomorrow.push(table)
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count
    FROM (SELECT FROM ${sql.table('runs_default')} LIMIT ${MOST_COUNTED}) AS counted`.execute(db)
  return { pendingMigrations, withoutTomorrow, defaultRows: rows[0]?.count ?? 0 }
}

async function listMigrations(db: Db): Promise<Set<string>> {
  const table = sql.id(schemaOf(db), 'kysely_migration')
  const { rows: found } = await sql<{ there: boolean }>`
    SELECT to_regclass(${`"${schemaOf(db)}".kysely_migration`}) IS NOT NULL AS there`.execute(db)
  if (!found[0]?.there) return new Set()
  const { rows } = await sql<{ name: string }>`SELECT name FROM ${table}`.execute(db)
  return new Set(rows.map(({ name }) => name))
}
