import { DAY, firstUuidAt } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'
import { BATCH, inBatches } from './in-batches.ts'
import { MERGE_ATTEMPT } from './merge-attempt.ts'
import { listQueuesOfJob } from './queues-of-job.ts'
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
const FIRST_UUID = '00000000-0000-0000-0000-000000000000'

/** A day's partition of runs, or what it was. */
export interface DayOfRuns {
  table: string
  startMs: number
  /** Only what was recorded from then on is looked at. */
  recordedFrom?: Date
}

/**
 * Moves the runs of a day that outlive its partition, with their attempts, to `runs_kept` and
 * `attempts_kept`: some at a time, each of them in both or neither, so that it may end anywhere and be done
 * again, by several at once too. What is recorded meanwhile may stay. Served by runs_job_queue_state_idx.
 */
export async function keepRunsOfDay(
  db: Db,
  { table, startMs, recordedFrom }: DayOfRuns,
  options: RetentionOptions,
): Promise<void> {
  const from = firstUuidAt(startMs)
  const to = firstUuidAt(startMs + DAY)
  const ofDay = sql<boolean>`run_id >= ${from}::uuid AND run_id < ${to}::uuid`
  const isLate = recordedFrom ? sql<boolean>`recorded_at >= ${recordedFrom}` : sql<boolean>`true`
  for (const each of longerOf(options)) {
    for (const queue of await listQueuesOfJob(db, table, each.job)) {
      for (const state of ENDED_STATES) {
        const which = sql<boolean>`job = ${each.job} AND queue = ${queue} AND state = ${state}
          AND ${isLate} AND ${outlives(options, each)}`
        await moveAll(db, { table, which, ofDay })
      }
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

/** Goes through the table once, by id, so that nothing is looked at again for each batch. */
async function moveAll(db: Db, move: Move): Promise<void> {
  const columns = {
    runs: await columnsOf(db, 'runs_kept'),
    attempts: await columnsOf(db, 'attempts_kept'),
  }
  for (let after: string | null = FIRST_UUID; after !== null;)
    after = await moveBatch(db, { ...move, ...columns }, after)
}

/** Resolves to the id after which the next ones are; null when there are none. */
async function moveBatch(
  db: Db,
  { table, which, ofDay, runs, attempts }: Move & Record<'runs' | 'attempts', RawBuilder<unknown>>,
  after: string,
): Promise<string | null> {
  const { rows } = await sql<{ chosen: number; lastId: string | null }>`
    WITH chosen AS MATERIALIZED (
      SELECT id FROM ${sql.table(table)} WHERE ${which} AND id > ${after}::uuid ORDER BY id LIMIT ${MOVED}
    ), gone AS (
      DELETE FROM ${sql.table(table)} WHERE id = ANY (ARRAY(SELECT id FROM chosen)) RETURNING ${runs}
    ), gone_attempt AS (
      DELETE FROM ${sql.table('attempts')}
      WHERE run_id IN (SELECT id FROM gone) AND ${ofDay} RETURNING ${attempts}
    ), kept AS (
      INSERT INTO ${sql.table('runs_kept')} AS k (${runs}) SELECT ${runs} FROM gone
      ON CONFLICT (id) DO UPDATE SET (${runs}) = ROW (excluded.*)
      WHERE k.revision < excluded.revision
    ), kept_attempt AS (
      INSERT INTO ${sql.table('attempts_kept')} AS a (${attempts}) SELECT ${attempts} FROM gone_attempt
      ${MERGE_ATTEMPT}
    ) SELECT count(*) AS chosen, (SELECT id FROM chosen ORDER BY id DESC LIMIT 1) AS "lastId"
      FROM chosen`.execute(db)
  const [row] = rows
  return row?.chosen === MOVED ? row.lastId : null
}

/** The columns of a table, by name, since two tables may have them in another order. */
async function columnsOf(db: Db, table: string): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ name: string }>`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = to_regclass(${`"${schemaOf(db)}".${table}`}) AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum`.execute(db)
  return sql.join(rows.map(({ name }) => sql.ref(name)))
}
