import { DAY, firstUuidAt } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'
import { BATCH, inBatches } from './in-batches.ts'
import {
  daysBefore,
  ENDED_STATES,
  longerOf,
  outlives,
  type RetentionOptions,
} from './retention-rules.ts'
import { schemaOf } from './schema-plugin.ts'

/** Rows that one statement moves. */
const MOVED = 2_000

/**
 * Moves the runs of a day that outlive its partition, with their attempts, to `runs_kept` and
 * `attempts_kept`: some at a time, each of them in both or neither, so that it may end anywhere and be done
 * again, by several at once too. Served by runs_job_state_idx.
 */
export async function keepRunsOfDay(
  db: Db,
  { table, startMs }: { table: string; startMs: number },
  options: RetentionOptions,
): Promise<void> {
  const from = firstUuidAt(startMs)
  const to = firstUuidAt(startMs + DAY)
  const ofDay = sql<boolean>`run_id >= ${from}::uuid AND run_id < ${to}::uuid`
  for (const each of longerOf(options)) {
    for (const state of ENDED_STATES) {
      const which = sql<boolean>`job = ${each.job} AND state = ${state} AND ${outlives(options, each)}`
      await moveAll(db, { table, which, ofDay })
    }
  }
}

/** Moves what would be deleted from the default partition and is kept longer. */
export async function keepRunsOfDefault(
  db: Db,
  borderMs: number,
  options: RetentionOptions,
): Promise<void> {
  for (const each of longerOf(options)) {
    const which = sql<boolean>`finished_at < ${new Date(borderMs)} AND ${outlives(options, each)}`
    await moveAll(db, { table: 'runs_default', which, ofDay: sql`true` })
  }
}

/** Deletes what jobs have kept for as long as they say; what no job says anything of, with all others. */
export async function deleteOldKept(db: Db, options: RetentionOptions): Promise<void> {
  const { now, retentionDays, retentions } = options
  const kept = sql.table('runs_kept')
  const { rows: jobs } = await sql<{ job: string }>`
    WITH RECURSIVE each AS (
      (SELECT job FROM ${kept} ORDER BY job LIMIT 1)
      UNION ALL
      SELECT (SELECT k.job FROM ${kept} AS k WHERE k.job > each.job ORDER BY k.job LIMIT 1)
      FROM each WHERE each.job IS NOT NULL
    ) SELECT job FROM each WHERE job IS NOT NULL`.execute(db)
  const daysOf = new Map(retentions.map(({ job, retention }) => [job, retention.days]))
  for (const { job } of jobs) {
    const border = daysBefore(now, Math.max(retentionDays, daysOf.get(job) ?? 0))
    await inBatches(
      db,
      sql`
        WITH gone AS (
          DELETE FROM ${kept} WHERE id = ANY (ARRAY(
            SELECT id FROM ${kept} WHERE job = ${job} AND finished_at < ${border} LIMIT ${BATCH}))
          RETURNING id
        ), gone_attempt AS (
          DELETE FROM ${sql.table('attempts_kept')} WHERE run_id IN (SELECT id FROM gone)
        ) SELECT count(*) AS deleted FROM gone`,
    )
  }
}

interface Move {
  table: string
  /** Of the run. */
  which: RawBuilder<boolean>
  /** Of the attempt: where it may lie. */
  ofDay: RawBuilder<boolean>
}

async function moveAll(db: Db, { table, which, ofDay }: Move): Promise<void> {
  const runs = await columnsOf(db, 'runs_kept')
  const attempts = await columnsOf(db, 'attempts_kept')
  let moved: number
  do {
    const { rows } = await sql<{ moved: number }>`
      WITH gone AS (
        DELETE FROM ${sql.table(table)} WHERE id = ANY (ARRAY(
          SELECT id FROM ${sql.table(table)} WHERE ${which} ORDER BY id LIMIT ${MOVED}))
        RETURNING ${runs}
      ), gone_attempt AS (
        DELETE FROM ${sql.table('attempts')}
        WHERE run_id IN (SELECT id FROM gone) AND ${ofDay} RETURNING ${attempts}
      ), kept AS (
        INSERT INTO ${sql.table('runs_kept')} (${runs}) SELECT ${runs} FROM gone
        ON CONFLICT (id) DO NOTHING
      ), kept_attempt AS (
        INSERT INTO ${sql.table('attempts_kept')} (${attempts}) SELECT ${attempts} FROM gone_attempt
        ON CONFLICT (run_id, attempt) DO NOTHING
      ) SELECT count(*) AS moved FROM gone`.execute(db)
    moved = rows[0]?.moved ?? 0
  } while (moved === MOVED)
}

/** The columns of a table, by name, since two tables may have them in another order. */
async function columnsOf(db: Db, table: string): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ name: string }>`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = to_regclass(${`"${schemaOf(db)}".${table}`}) AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum`.execute(db)
  return sql.join(rows.map(({ name }) => sql.ref(name)))
}
