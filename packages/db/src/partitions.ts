import { DAY, firstUuidAt, MINUTE } from '@jadwal/domain'
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { deleteOldFromDefault } from './default-partition.ts'
import { deleteOldRedrives, deleteOldSettled } from './delete-old-decisions.ts'
import { unlessDropped } from './dropped-partition.ts'
import { countRunsFrom } from './fold-run-stats.ts'
import { deleteOldKept, keepRunsOfDay, keepRunsOfDefault } from './kept-runs.ts'
import { readClock } from './read-clock.ts'
import { outliveAny, type RetentionOptions } from './retention-rules.ts'
import { schemaOf } from './schema-plugin.ts'

/** The tables that are partitioned by day, and the column whose UUIDv7 tells the day. */
const PARTITIONED = [
  { table: 'runs', key: 'id' },
  { table: 'attempts', key: 'run_id' },
] as const
type Partitioned = (typeof PARTITIONED)[number]

/** Runs that live on, and bytes of their payloads, that one transaction moves while it keeps all others out. */
const MOST_MOVED = 10_000
const MOST_MOVED_BYTES = 64 * 1024 * 1024
/** What is recorded has the time at which its statement began: none takes so long. */
const RECORDED_WITHIN_MS = 5 * MINUTE

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
 * Drops the days that ended more than `retentionDays` before `now`. Their runs that are not finished,
 * and those made by a redrive that finished later than that, live on in the default partition, with
 * their attempts; what finished there longer ago than `retentionDays` is deleted. A day with too many
 * runs that live on to be moved at one go stays whole until they are fewer. With them go decisions about
 * their letters, and redrives that ended as long ago. Before that, runs of jobs that keep them longer are
 * moved to `runs_kept`, and what was kept there for long enough is deleted. Returns the names of what it
 * dropped.
 */
export async function dropPartitions(
  db: Kysely<Database>,
  options: Omit<RetentionOptions, 'retentions'> & Partial<RetentionOptions>,
): Promise<string[]> {
  const rules: RetentionOptions = { retentions: [], ...options }
  const borderMs = startOfDay(options.now) - options.retentionDays * DAY
  const existing: string[] = []
  for (const { table } of PARTITIONED) existing.push(...(await listPartitions(db, table)))
  const days = new Set(existing.flatMap((name) => partitionStart(name) ?? []))
  const dropped: string[] = []
  await countRunsFrom(db, new Date(borderMs))
  for (const startMs of days) {
    if (startMs + DAY <= borderMs) dropped.push(...(await dropDay(db, startMs, rules)))
  }
  await keepRunsOfDefault(db, borderMs, rules)
  await deleteOldFromDefault(db, borderMs, outliveAny(rules))
  await deleteOldKept(db, rules)
  await deleteOldSettled(db, borderMs)
  await deleteOldRedrives(db, borderMs)
  return dropped
}

/**
 * Runs and attempts of a day go in one transaction, runs first: in this order recorders lock the two.
 * The default partition takes a row only when no other partition is for it, so the move is after
 * the detaching, and others wait for both.
 */
async function dropDay(
  db: Kysely<Database>,
  startMs: number,
  rules: RetentionOptions,
): Promise<string[]> {
  const borderMs = startOfDay(rules.now) - rules.retentionDays * DAY
  const ofDay = partitionName('runs', startMs)
  const recordedFrom = new Date((await readClock(db)).getTime() - RECORDED_WITHIN_MS)
  if ((await listPartitions(db, 'runs')).includes(ofDay))
    await unlessDropped(() => keepRunsOfDay(db, { table: ofDay, startMs }, rules))
  return await db.transaction().execute(async (tx) => {
    await lockPartitions(tx)
    await waitBriefly(tx)
    const [runs, attempts] = await Promise.all(
      PARTITIONED.map(async ({ table }) => {
        const name = partitionName(table, startMs)
        return (await listPartitions(tx, table)).includes(name) ? name : undefined
      }),
    )
    if (runs !== undefined) {
      if (await isTooMuchToMove(tx, runs, borderMs)) return []
      const day = await detach(tx, 'runs', runs)
      // Few, if any: nobody can read or write runs meanwhile, so all others are not looked at again.
      await keepRunsOfDay(tx, { table: runs, startMs, recordedFrom }, rules)
      await sql`INSERT INTO ${sql.table('runs_default')}
        SELECT * FROM ${day} WHERE ${livesOn(borderMs)}`.execute(tx)
      await sql`DROP TABLE ${day}`.execute(tx)
    }
    if (attempts !== undefined) {
      const day = await detach(tx, 'attempts', attempts)
      await sql`INSERT INTO ${sql.table('attempts_default')}
        SELECT * FROM ${day} WHERE run_id IN (
          SELECT id FROM ${sql.table('runs_default')}
          WHERE id >= ${firstUuidAt(startMs)} AND id < ${firstUuidAt(startMs + DAY)})`.execute(tx)
      await sql`DROP TABLE ${day}`.execute(tx)
    }
    return [runs, attempts].filter((name) => name !== undefined)
  })
}

async function detach(
  tx: Transaction<Database>,
  table: Partitioned['table'],
  name: string,
): Promise<RawBuilder<unknown>> {
  const day = sql.table(name)
  await sql`ALTER TABLE ${sql.table(table)} DETACH PARTITION ${day}`.execute(tx)
  return day
}

/**
 * The id of a run made by a redrive has the time of the dead run, maybe long before its own end. Served
 * by runs_unfinished_idx and runs_redrive_idx: nobody can read or write runs while a day is moved.
 */
export function livesOn(borderMs: number): RawBuilder<unknown> {
  return sql`(finished_at IS NULL OR (redrive_of IS NOT NULL AND finished_at >= ${new Date(borderMs)}))`
}

async function isTooMuchToMove(
  tx: Transaction<Database>,
  runs: string,
  borderMs: number,
): Promise<boolean> {
  const { rows } = await sql<{ count: number; bytes: number }>`
    SELECT count(*) AS count, coalesce(sum(pg_column_size(payload)), 0)::bigint AS bytes
    FROM (SELECT payload FROM ${sql.table(runs)} WHERE ${livesOn(borderMs)}
      LIMIT ${MOST_MOVED + 1}) AS living`.execute(tx)
  const { count = 0, bytes = 0 } = rows[0] ?? {}
  return count > MOST_MOVED || bytes > MOST_MOVED_BYTES
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
    await lockPartitions(tx)
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
export async function listPartitions(
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

/** One at a time makes or drops partitions. */
async function lockPartitions(tx: Transaction<Database>): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtext('jadwal partitions'))`.execute(tx)
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

/** The beginning of the day that a partition's name tells. */
export function partitionStart(name: string): number | undefined {
  const day = /_(\d{4})(\d{2})(\d{2})$/.exec(name)
  return day ? Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3])) : undefined
}
