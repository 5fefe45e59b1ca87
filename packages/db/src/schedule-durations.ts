import type { ScheduleId } from '@jadwal/domain'
import { sql } from 'kysely'
import type { Db } from './database.ts'

export interface ScheduleDuration {
  /** 95 of 100 runs took no longer. */
  p95Ms: number
  /** How many runs say so. */
  runs: number
}

/** Runs that are looked at, and rows among which they are looked for: skipped ticks have rows too. */
const RUNS = 200
const ROWS = 2_000

/** How long the latest finished runs of a schedule took; undefined without any. Served by runs_schedule_filters_idx. */
export async function findScheduleDuration(
  db: Db,
  scheduleId: ScheduleId,
): Promise<ScheduleDuration | undefined> {
  const { rows } = await sql<ScheduleDuration>`
    SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY ms)::float8 AS "p95Ms", count(*)::int AS runs
    FROM (
      SELECT round(extract(epoch FROM finished_at - started_at) * 1000) AS ms
      FROM (
        SELECT started_at, finished_at FROM ${sql.table('runs')}
        WHERE schedule_id = ${scheduleId} ORDER BY id DESC LIMIT ${ROWS}
      ) AS latest
      WHERE started_at IS NOT NULL AND finished_at IS NOT NULL LIMIT ${RUNS}
    ) AS took`.execute(db)
  const [row] = rows
  return row && row.runs > 0 ? row : undefined
}

/**
 * The schedules among the latest runs, of whatever, whose runs took long: candidates for a closer
 * look. Served by runs_pkey.
 */
export async function listRecentDurations(
  db: Db,
  { runs }: { runs: number },
): Promise<{ id: string; p95Ms: number }[]> {
  const { rows } = await sql<{ id: string; p95Ms: number }>`
    SELECT schedule_id AS id,
      percentile_disc(0.95) WITHIN GROUP
        (ORDER BY extract(epoch FROM finished_at - started_at) * 1000)::float8 AS "p95Ms"
    FROM (
      SELECT schedule_id, started_at, finished_at FROM ${sql.table('runs')} ORDER BY id DESC LIMIT ${runs}
    ) AS latest
    WHERE schedule_id IS NOT NULL AND started_at IS NOT NULL AND finished_at IS NOT NULL
    GROUP BY schedule_id`.execute(db)
  return rows
}
