import { BUCKET_GROWTH } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'

/**
 * Sets `ended_before` in the update of a run's row: it had ended, and a later attempt is told of, as
 * when Redis lost that it had ended. What an upsert returns with it null has ended for the first time.
 */
export const ENDED_BEFORE = sql`ended_before = CASE
  WHEN r.state IN ('succeeded', 'dead', 'cancelled') THEN true ELSE r.ended_before END`

/** What `countEnds` has to know of the rows that `recordFacts` changed. */
export const CHANGED_RUN = sql.raw(
  'id, state, job, queue, schedule_id, attempt, enqueued_at, run_at, started_at, finished_at, ended_before',
)

/**
 * Counts the runs that this statement was the first to record the end of: see `runStats` for what is
 * counted. It reads the CTEs `fact` and `changed_run`. Appends rows and changes none, so that no
 * recorder waits for another. A run that ended before `counted_from` may have had a row that is deleted
 * by now, so it does not count.
 */
export function countEnds(): RawBuilder<unknown> {
  const startedMs = ms(sql`first_started_at - coalesce(run_at, enqueued_at)`)
  const tookMs = ms(sql`finished_at - started_at`)
  return sql`
    INSERT INTO ${sql.table('run_stats_deltas')}
      (minute, job, queue, schedule_id, succeeded, dead, cancelled, retries, waits, durations)
    SELECT date_trunc('minute', finished_at, 'UTC'), job, queue, schedule_id,
      count(*) FILTER (WHERE state = 'succeeded'), count(*) FILTER (WHERE state = 'dead'),
      count(*) FILTER (WHERE state = 'cancelled'), sum(greatest(attempt - 1, 0)),
      coalesce(array_agg(${bucket(startedMs)}) FILTER (WHERE first_started_at IS NOT NULL), '{}'),
      coalesce(array_agg(${bucket(tookMs)}) FILTER (WHERE started_at IS NOT NULL), '{}')
    FROM (
      SELECT c.*, CASE WHEN c.attempt <= 1 THEN c.started_at ELSE coalesce(f.started_at, (
        SELECT a.started_at FROM ${sql.table('attempts')} AS a WHERE a.run_id = c.id AND a.attempt = 1
      )) END AS first_started_at
      FROM changed_run AS c LEFT JOIN (
        SELECT id, min(started_at) AS started_at FROM fact
        WHERE attempt = 1 AND started_at IS NOT NULL AND state IS DISTINCT FROM 'succeeded' GROUP BY id
      ) AS f ON f.id = c.id
      WHERE c.state IN ('succeeded', 'dead', 'cancelled') AND c.ended_before IS NULL
        AND c.finished_at >= (SELECT counted_from FROM ${sql.table('run_stats_state')})
    ) AS ended
    GROUP BY 1, 2, 3, 4`
}

function ms(interval: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(extract(epoch FROM ${interval})::float8 * 1000)`
}

/** `bucketOf` of the domain. */
function bucket(timeMs: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(CASE WHEN ${timeMs} < 0.999999 THEN 0
    ELSE ceil(ln(${timeMs}) / ln(${sql.lit(BUCKET_GROWTH)}::float8) - 1e-9)::int + 1 END)::smallint`
}
