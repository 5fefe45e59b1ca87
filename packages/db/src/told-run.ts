import { type RawBuilder, sql } from 'kysely'

/** What a change of a run's row is told as, to those who listen. Without payload and result. */
export interface ToldRun {
  id: string
  job: string
  queue: string
  state: 'running' | 'retrying' | 'succeeded' | 'dead' | 'cancelled'
  attempt: number
  schedule: string | null
  scheduleId: string | null
  worker: string | null
  /** ISO 8601, as all times here. */
  enqueuedAt: string
  startedAt: string | null
  finishedAt: string | null
  reason: string | null
  fingerprint: string | null
  /** Its message is cut. */
  error: { name: string | null; message: string | null } | null
}

/** Letters of an error's message that are told. */
const MOST_LETTERS = 200

/** What it takes of the rows that an upsert returns. */
export const TOLD_COLUMNS = sql`reason, schedule, worker, fingerprint, error ->> 'name' AS error_name,
  left(error ->> 'message', ${sql.lit(MOST_LETTERS)}) AS error_message`

/** The changes of runs that are told, as JSON; null when there are none. It reads the CTE `changed_run`. */
export function toldRuns(): RawBuilder<ToldRun[] | null> {
  return sql`(
    SELECT json_agg(json_build_object('id', id, 'job', job, 'queue', queue, 'state', state,
      'attempt', attempt, 'schedule', schedule, 'scheduleId', schedule_id, 'worker', worker,
      'enqueuedAt', ${iso('enqueued_at')}, 'startedAt', ${iso('started_at')},
      'finishedAt', ${iso('finished_at')}, 'reason', reason, 'fingerprint', fingerprint,
      'error', CASE WHEN error_name IS NULL AND error_message IS NULL THEN NULL
        ELSE json_build_object('name', error_name, 'message', error_message) END)
      ORDER BY coalesce(finished_at, started_at), id)
    FROM changed_run WHERE state IN ('running', 'retrying', 'succeeded', 'dead', 'cancelled'))`
}

function iso(column: string): RawBuilder<string | null> {
  return sql`to_char(${sql.ref(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
