import type { AlertMatchers } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'
import { ofMatchers } from './alert-matchers.ts'
import type { Db } from './database.ts'

/** Runs that rules about events count, of one group. */
export interface EventGroup {
  key: string
  job: string | null
  queue: string | null
  /** Where all are of one. */
  schedule: string | null
  labels: Record<string, string> | null
  schedules: string[]
  count: number
  first_at: Date
  last_at: Date
  /** The latest, three at most. */
  examples: {
    id: string
    at: string
    schedule: string | null
    error: string | null
    state: string
    reason: string | null
    tickAt: string | null
  }[]
}

export interface EventQuery {
  /** What happened from here on. */
  from: Date
  matchers: AlertMatchers
  /** Runs of this queue do not count. */
  exceptQueue: string
}

/** At most the latest so many are looked at. */
const MOST_RUNS = 20_000
/** And so many groups, the largest first. */
const MOST_GROUPS = 200
const LONGEST_ERROR = 200

export interface EventGroups {
  groups: EventGroup[]
  /** There was more to look at: what was not found may be there all the same. */
  isCut: boolean
}

/** Unsettled dead letters by what they have in common. Served by runs_dead_idx. */
export async function findDeadGroups(
  db: Db,
  groupBy: 'fingerprint' | 'job' | 'queue',
  query: EventQuery,
): Promise<EventGroups> {
  const keys = {
    fingerprint: sql`concat_ws(' ', queue, job, coalesce(fingerprint, reason))`,
    job: sql`concat_ws(' ', queue, job)`,
    queue: sql`queue`,
  }
  const settled = sql`NOT EXISTS
    (SELECT FROM ${sql.table('settled_letters')} AS s WHERE s.run_id = runs.id)`
  return await findGroups(db, query, {
    key: keys[groupBy],
    at: sql`finished_at`,
    where: sql`state = 'dead' AND ${settled}`,
  })
}

/** Ticks that were found to be late and whose runs have not succeeded yet, by schedule. Served by runs_late_filters_idx. */
export async function findLateTicks(db: Db, query: EventQuery): Promise<EventGroups> {
  return await findGroups(db, query, {
    key: sql`coalesce(schedule, job)`,
    at: sql`late_at`,
    where: sql`late_at IS NOT NULL AND state <> 'succeeded'`,
  })
}

/** Ticks that got no run though they were to, by schedule. Served by runs_missed_idx. */
export async function findMissedTicks(db: Db, query: EventQuery): Promise<EventGroups> {
  return await findGroups(db, query, {
    key: sql`coalesce(schedule, job)`,
    at: sql`finished_at`,
    where: sql`state = 'skipped' AND reason IN ('misfire', 'unknown-job')`,
  })
}

interface Which {
  key: RawBuilder<unknown>
  /** When it happened: a column with an index of its own. */
  at: RawBuilder<unknown>
  where: RawBuilder<unknown>
}

async function findGroups(
  db: Db,
  { from, matchers, exceptQueue }: EventQuery,
  { key, at, where }: Which,
): Promise<EventGroups> {
  const { rows } = await sql<EventGroup & { total: number }>`
    WITH latest AS (
      SELECT id, job, queue, schedule, labels, state, reason, tick_at, coalesce(tick_count, 1) AS n,
        ${at} AS at, ${key} AS key,
        left(concat_ws(': ', error ->> 'name', error ->> 'message'), ${LONGEST_ERROR}) AS error
      FROM ${sql.table('runs')}
      WHERE ${where} AND ${at} >= ${from} AND queue <> ${exceptQueue} AND ${ofMatchers(matchers)}
      ORDER BY ${at} DESC LIMIT ${MOST_RUNS}
    ), placed AS (
      SELECT *, row_number() OVER (PARTITION BY key ORDER BY at DESC, id DESC) AS place FROM latest
    )
    SELECT key, min(job) AS job, min(queue) AS queue,
      CASE WHEN count(DISTINCT coalesce(schedule, '')) = 1 THEN min(schedule) END AS schedule,
      CASE WHEN count(DISTINCT coalesce(labels, '{}')) = 1 THEN min(labels::text)::jsonb END AS labels,
      coalesce(array_agg(DISTINCT schedule) FILTER (WHERE schedule IS NOT NULL AND place <= 100), '{}')
        AS schedules,
      sum(n)::int AS count, min(at) AS first_at, max(at) AS last_at,
      json_agg(json_build_object('id', id, 'at', at, 'schedule', schedule, 'error', error,
        'state', state, 'reason', reason, 'tickAt', tick_at) ORDER BY at DESC, id DESC)
        FILTER (WHERE place <= 3) AS examples,
      (SELECT count(*) FROM latest)::int AS total
    FROM placed GROUP BY key ORDER BY count DESC, key LIMIT ${MOST_GROUPS + 1}`.execute(db)
  const isCut = rows.length > MOST_GROUPS || (rows[0]?.total ?? 0) >= MOST_RUNS
  return { groups: rows.slice(0, MOST_GROUPS), isCut }
}
