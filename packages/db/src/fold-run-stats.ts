import { sql, type Transaction } from 'kysely'
import type { Database, Db } from './database.ts'
import { BATCH, inBatches } from './in-batches.ts'
import { floorTo, STATS_KEPT_MS, STATS_STEPS, type StatsStep } from './run-stats.ts'

/** Rows of recorders that one statement folds; each may be of thousands of runs. */
const AT_ONCE = 2_000

/**
 * Moves what recorders have counted into rows by minute, hour and day, for all runs (without a queue and
 * job), for each queue (without a job), for each job and for each schedule, some at a time. One at a time
 * does it: who comes meanwhile does nothing. What is moved is at each instant in one place, so that who
 * reads both counts it once. Returns how many rows it moved; fewer than it could means that there are no
 * more. Served by run_stats_one_row_idx.
 */
export async function foldRunStats(db: Db): Promise<{ moved: number; more: boolean }> {
  const moved = await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ first: boolean }>`
      SELECT pg_try_advisory_xact_lock(hashtext('jadwal stats')) AS first`.execute(tx)
    return rows[0]?.first ? await fold(tx) : 0
  })
  return { moved, more: moved === AT_ONCE }
}

async function fold(tx: Transaction<Database>): Promise<number> {
  const deltas = sql.table('run_stats_deltas')
  const { rows } = await sql<{ moved: number }>`
    WITH taken AS (
      DELETE FROM ${deltas}
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${deltas} LIMIT ${AT_ONCE})) RETURNING *
    ), told AS (
      SELECT minute, schedule_id, queue, job, measure, 0 AS bucket, sum(n) AS n
      FROM taken, LATERAL (VALUES ('succeeded', succeeded), ('dead', dead),
        ('cancelled', cancelled), ('retries', retries)) AS counts (measure, n)
      WHERE n > 0 GROUP BY 1, 2, 3, 4, 5
      UNION ALL
      SELECT minute, schedule_id, queue, job, measure, bucket, count(*)
      FROM (
        SELECT minute, schedule_id, queue, job, 'wait' AS measure, unnest(waits) AS bucket FROM taken
        UNION ALL
        SELECT minute, schedule_id, queue, job, 'duration', unnest(durations) FROM taken
      ) AS times GROUP BY 1, 2, 3, 4, 5, 6
    ), summed AS (
      SELECT scope.schedule_id, step, date_trunc(step, minute, 'UTC') AS at, scope.queue, scope.job,
        measure, bucket, sum(n) AS n
      FROM told, unnest(${[...STATS_STEPS]}::text[]) AS steps (step),
        LATERAL (
          SELECT NULL::uuid AS schedule_id, '' AS queue, '' AS job
          UNION ALL SELECT NULL, told.queue, ''
          UNION ALL SELECT NULL, told.queue, told.job
          UNION ALL SELECT told.schedule_id, told.queue, told.job WHERE told.schedule_id IS NOT NULL
        ) AS scope
      GROUP BY 1, 2, 3, 4, 5, 6, 7
    ), upserted AS (
      INSERT INTO ${sql.table('run_stats')} AS s (schedule_id, step, at, queue, job,
        succeeded, dead, cancelled, retries,
        wait_buckets, wait_counts, duration_buckets, duration_counts)
      SELECT schedule_id, step, at, queue, job, ${summed('succeeded')}, ${summed('dead')},
        ${summed('cancelled')}, ${summed('retries')}, ${gathered('bucket', 'wait')},
        ${gathered('n', 'wait')}, ${gathered('bucket', 'duration')}, ${gathered('n', 'duration')}
      FROM summed GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
      ON CONFLICT (schedule_id, step, at, queue, job) DO UPDATE SET
        succeeded = s.succeeded + excluded.succeeded, dead = s.dead + excluded.dead,
        cancelled = s.cancelled + excluded.cancelled, retries = s.retries + excluded.retries,
        ${merged('wait')}, ${merged('duration')}
    )
    SELECT count(*)::int AS moved FROM taken`.execute(tx)
  return rows[0]?.moved ?? 0
}

function summed(measure: string) {
  return sql`coalesce(sum(n) FILTER (WHERE measure = ${sql.lit(measure)}), 0)::int`
}

/** The buckets of a measure or how many times are in each, in the same order. */
function gathered(column: 'bucket' | 'n', measure: string) {
  const type = sql.raw(column === 'bucket' ? 'smallint' : 'int')
  return sql`coalesce(array_agg(${sql.ref(column)}::${type} ORDER BY bucket)
    FILTER (WHERE measure = ${sql.lit(measure)}), '{}')`
}

function merged(measure: 'wait' | 'duration') {
  const buckets = sql.raw(`${measure}_buckets`)
  const counts = sql.raw(`${measure}_counts`)
  return sql`(${buckets}, ${counts}) = (
    SELECT coalesce(array_agg(bucket ORDER BY bucket), '{}'),
      coalesce(array_agg(n ORDER BY bucket), '{}')
    FROM (
      SELECT bucket, sum(n)::int AS n FROM (
        SELECT * FROM unnest(s.${buckets}, s.${counts}) AS old (bucket, n)
        UNION ALL SELECT * FROM unnest(excluded.${buckets}, excluded.${counts}) AS new (bucket, n)
      ) AS both_of_them GROUP BY bucket
    ) AS sums)`
}

/** Deletes rows of each step that are older than it is kept. Served by run_stats_age_idx. */
export async function deleteOldStats(
  db: Db,
  { now, statsDays }: { now: Date; statsDays: number },
): Promise<void> {
  const dayMs = 24 * 60 * 60 * 1_000
  const kept: Record<StatsStep, number> = { ...STATS_KEPT_MS, day: statsDays * dayMs }
  const stats = sql.table('run_stats')
  for (const step of STATS_STEPS) {
    const before = new Date(floorTo(step, now.getTime() - Math.min(kept[step], kept.day)))
    await inBatches(
      db,
      sql`
        WITH gone AS (
          DELETE FROM ${stats} WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${stats} WHERE step = ${step} AND at < ${before} LIMIT ${BATCH}))
          RETURNING 1
        ) SELECT count(*) AS deleted FROM gone`,
    )
  }
}

/**
 * From now on runs that ended before an instant do not count: their rows are about to be deleted, and
 * facts that are delivered again would count them twice. It never moves back.
 */
export async function countRunsFrom(db: Db, instant: Date): Promise<void> {
  await sql`UPDATE ${sql.table('run_stats_state')} SET counted_from = ${instant}
    WHERE counted_from < ${instant}`.execute(db)
}
