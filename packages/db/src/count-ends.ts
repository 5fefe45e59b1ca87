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
 * Whether facts may be of attempts beyond a run's first: the start of that one has to be looked up then.
 * Each `attempt` in a line is looked at, as one in a payload may come before the fact's own: it may make
 * this true for nothing, never false.
 */
export function haveRetries(lines: readonly string[]): boolean {
  return lines.some((line) => /"attempt"\s*:(?![01][,}])/.test(line))
}

/**
 * Counts the runs that this statement was the first to record the end of: see `runStats` for what is
 * counted. It reads the CTEs `fact` and `changed_run`. Appends rows and changes none, so that no
 * recorder waits for another. A run that ended before `counted_from` may have had a row that is deleted
 * by now, so it does not count. Without retries it costs less to plan.
 */
export function countEnds(withRetries: boolean): RawBuilder<unknown> {
  const waitedMs = ms(sql`first_started_at - coalesce(run_at, enqueued_at)`)
  const tookMs = ms(sql`finished_at - started_at`)
  return sql`
    INSERT INTO ${sql.table('run_stats_deltas')}
      (minute, job, queue, schedule_id, succeeded, dead, cancelled, retries, waits, durations)
    SELECT date_trunc('minute', finished_at, 'UTC'), job, queue, schedule_id,
      count(*) FILTER (WHERE state = 'succeeded'), count(*) FILTER (WHERE state = 'dead'),
      count(*) FILTER (WHERE state = 'cancelled'), sum(greatest(attempt - 1, 0)),
      coalesce(array_agg(${bucket(waitedMs)}) FILTER (WHERE first_started_at IS NOT NULL), '{}'),
      coalesce(array_agg(${bucket(tookMs)}) FILTER (WHERE started_at IS NOT NULL), '{}')
    FROM (${withRetries ? withFirstStart() : sql`SELECT *, started_at AS first_started_at FROM changed_run`}) AS ended
    WHERE state IN ('succeeded', 'dead', 'cancelled') AND ended_before IS NULL
      AND finished_at >= (SELECT counted_from FROM ${sql.table('run_stats_state')})
    GROUP BY 1, 2, 3, 4`
}

/** The start of the first attempt is told by a fact beside that of the end, or was recorded before. */
function withFirstStart(): RawBuilder<unknown> {
  return sql`
    SELECT c.*, CASE WHEN c.attempt <= 1 THEN c.started_at ELSE coalesce(f.started_at, (
      SELECT a.started_at FROM ${sql.table('attempts')} AS a WHERE a.run_id = c.id AND a.attempt = 1
    )) END AS first_started_at
    FROM changed_run AS c LEFT JOIN (
      SELECT id, min(started_at) AS started_at FROM fact
      WHERE attempt = 1 AND started_at IS NOT NULL AND state IS DISTINCT FROM 'succeeded' GROUP BY id
    ) AS f ON f.id = c.id`
}

/** `date_part`, other than `extract`, reckons without numerics, which cost ten times as much. */
function ms(interval: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`date_part('epoch', ${interval}) * 1000`
}

/** `bucketOf` of the domain. */
function bucket(timeMs: RawBuilder<unknown>): RawBuilder<unknown> {
  const growth = sql.lit(Math.log(BUCKET_GROWTH))
  return sql`greatest(ceil(ln(greatest(${timeMs}, 0.5)) / ${growth} - 1e-9)::int + 1, 0)::smallint`
}
