import { DAY, firstUuidAt } from '@jadwal/domain'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { schemaOf } from './schema-plugin.ts'

/** The tables that are partitioned by day, and the column whose UUIDv7 tells the day. */
const PARTITIONED = [
  { table: 'runs', key: 'id' },
  { table: 'attempts', key: 'run_id' },
] as const
type Partitioned = (typeof PARTITIONED)[number]

/** How many rows of the default partition one statement deletes. */
const DELETE_BATCH = 10_000

/**
 * Makes the partitions of yesterday up to `daysAhead` days from `now` (days of UTC), for runs and for
 * attempts. Rows of these days that already lie in the default partition are moved. Safe to repeat,
 * and when several do it at once. Returns the names of those it made.
 */
export async function ensurePartitions(
  db: Kysely<Database>,
  options: { now: Date; daysAhead: number },
): Promise<string[]> {
  const made: string[] = []
  for (const partitioned of PARTITIONED) {
    const existing = new Set(await listPartitions(db, partitioned.table))
    for (let day = -1; day <= options.daysAhead; day++) {
      const startMs = startOfDay(options.now) + day * DAY
      const name = partitionName(partitioned.table, startMs)
      if (!existing.has(name) && (await makePartition(db, partitioned, startMs))) made.push(name)
    }
  }
  return made
}

/**
 * Drops the days that ended more than `retentionDays` before `now`, and deletes what is as old from
 * the default partitions. Returns the names of what it dropped.
 */
export async function dropPartitions(
  db: Kysely<Database>,
  options: { now: Date; retentionDays: number },
): Promise<string[]> {
  const borderMs = startOfDay(options.now) - options.retentionDays * DAY
  const dropped: string[] = []
  for (const partitioned of PARTITIONED) {
    for (const name of await listPartitions(db, partitioned.table)) {
      const startMs = partitionStart(name)
      if (startMs === undefined || startMs + DAY > borderMs) continue
      await db.transaction().execute(async (tx) => {
        await waitBriefly(tx)
        await sql`DROP TABLE IF EXISTS ${sql.table(name)}`.execute(tx)
      })
      dropped.push(name)
    }
    await deleteFromDefault(db, partitioned, firstUuidAt(borderMs))
  }
  return dropped
}

/** Resolves to false when another has made it in the meantime. */
function makePartition(
  db: Kysely<Database>,
  { table, key }: Partitioned,
  startMs: number,
): Promise<boolean> {
  const name = partitionName(table, startMs)
  const partition = sql.table(name)
  const rest = sql.table(`${table}_default`)
  const from = firstUuidAt(startMs)
  const to = firstUuidAt(startMs + DAY)
  return db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('jadwal partitions'))`.execute(tx)
    if ((await listPartitions(tx, table)).includes(name)) return false
    await waitBriefly(tx)
    // Nobody may add a row of this day to the default partition between the move and the end.
    await sql`LOCK TABLE ${rest} IN ACCESS EXCLUSIVE MODE`.execute(tx)
    await sql`CREATE TABLE ${partition} (LIKE ${sql.table(table)} INCLUDING ALL)`.execute(tx)
    await sql`
      WITH moved AS (
        DELETE FROM ${rest} WHERE ${sql.ref(key)} >= ${from} AND ${sql.ref(key)} < ${to} RETURNING *
      ) INSERT INTO ${partition} SELECT * FROM moved`.execute(tx)
    // ATTACH, other than CREATE TABLE … PARTITION OF, lets others go on reading and writing the table.
    await sql`
      ALTER TABLE ${sql.table(table)} ATTACH PARTITION ${partition}
      FOR VALUES FROM (${sql.lit(from)}) TO (${sql.lit(to)})`.execute(tx)
    return true
  })
}

/** The names of a table's partitions by day; without the default one. */
async function listPartitions(
  db: Kysely<Database> | Transaction<Database>,
  table: Partitioned['table'],
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT child.relname AS name
    FROM pg_inherits i
    JOIN pg_class child ON child.oid = i.inhrelid
    JOIN pg_class parent ON parent.oid = i.inhparent
    JOIN pg_namespace n ON n.oid = parent.relnamespace
    WHERE n.nspname = ${schemaOf(db)} AND parent.relname = ${table}
    ORDER BY 1`.execute(db)
  return rows.map((row) => row.name).filter((name) => partitionStart(name) !== undefined)
}

async function deleteFromDefault(
  db: Kysely<Database>,
  { table, key }: Partitioned,
  border: string,
): Promise<void> {
  const rest = sql.table(`${table}_default`)
  let deleted: bigint | undefined
  do {
    const result = await sql`
      DELETE FROM ${rest} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${rest} WHERE ${sql.ref(key)} < ${border} LIMIT ${DELETE_BATCH}))`.execute(
      db,
    )
    deleted = result.numAffectedRows
  } while (deleted === BigInt(DELETE_BATCH))
}

/** A lock that is not had within two seconds is left for the next round: who waits for one blocks all after it. */
async function waitBriefly(tx: Transaction<Database>): Promise<void> {
  await sql`SET LOCAL lock_timeout = '2s'`.execute(tx)
}

function startOfDay(now: Date): number {
  return Math.floor(now.getTime() / DAY) * DAY
}

function partitionName(table: string, startMs: number): string {
  return `${table}_${new Date(startMs).toISOString().slice(0, 10).replaceAll('-', '')}`
}

function partitionStart(name: string): number | undefined {
  const day = /_(\d{4})(\d{2})(\d{2})$/.exec(name)
  return day ? Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3])) : undefined
}
