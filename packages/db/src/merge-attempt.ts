import { type RawBuilder, sql } from 'kysely'

/**
 * How much a state of an attempt says. Nothing but a running fact comes before an end, and a worker's
 * own word on its attempt is worth more than somebody's finding that it is lost.
 */
export function weightOf(state: string): RawBuilder<number> {
  return sql.raw(
    `array_position('{running,lost,drained,cancelled,failed,succeeded}'::text[], ${state})`,
  )
}

const HEAVIER = sql`${weightOf('excluded.state')} > ${weightOf('a.state')}`

/**
 * What an insert into attempts, as `a`, does with one that is there: the weightier state with its end and
 * error stays; worker and start are filled in by whichever knows them.
 */
export const MERGE_ATTEMPT = sql`
  ON CONFLICT (run_id, attempt) DO UPDATE SET
    state = CASE WHEN ${HEAVIER} THEN excluded.state ELSE a.state END,
    worker = CASE WHEN ${HEAVIER} THEN coalesce(excluded.worker, a.worker) ELSE coalesce(a.worker, excluded.worker) END,
    started_at = CASE WHEN ${HEAVIER} THEN coalesce(excluded.started_at, a.started_at) ELSE coalesce(a.started_at, excluded.started_at) END,
    finished_at = CASE WHEN ${HEAVIER} THEN excluded.finished_at ELSE a.finished_at END,
    error = CASE WHEN ${HEAVIER} THEN excluded.error ELSE a.error END,
    log = CASE WHEN ${HEAVIER} THEN excluded.log ELSE a.log END,
    recorded_at = now()
  WHERE ${HEAVIER} OR (a.worker IS NULL AND excluded.worker IS NOT NULL)
    OR (a.started_at IS NULL AND excluded.started_at IS NOT NULL)`
