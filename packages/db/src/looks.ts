import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'
import { queuesOfJob } from './queues-of-job.ts'
import type { IdRange, Search } from './run-filters.ts'

/**
 * A look into one table for the newest runs that a search is for:
 * - `exact`: the leader says all, its index has them in order;
 * - `window`: the newest runs of the leader, checked one by one: finds at once what is common;
 * - `glance`: the same of fewer runs, where words are dear to check and there is an index that gathers them;
 * - `some`: everything that matches, by whatever indexes Postgres thinks best, unless that is too much;
 * - `every`: the same, however much it is.
 */
export type LookKind = 'exact' | 'glance' | 'window' | 'some' | 'every'

export interface Look {
  table: string
  kind: LookKind
}

export interface LookResult {
  /** Newest first, at most as many as were asked for. */
  ids: string[]
  /** There may be more that match than the ids say: another kind of look has to tell. */
  isPartial: boolean
}

/** Runs that these look at. */
const LOOKED_AT = { glance: 400, window: 1_000 }
/** Matches that `some` reads in one table. */
const SOME = 10_000

/** Takes looks in one statement, each within its bounds. Results are in the order of the looks. */
export async function takeLooks(
  db: Db,
  looks: readonly Look[],
  ask: { search: Search; range: IdRange; limit: number },
): Promise<LookResult[]> {
  const parts = looks.map(
    (each, at) => sql`SELECT ${sql.lit(at)} AS at, found.* FROM (${lookQuery(each, ask)}) AS found`,
  )
  const { rows } = await sql<{ at: number; ids: string[]; seen: number }>`
    ${sql.join(parts, sql` UNION ALL `)} ORDER BY at`.execute(db)
  return rows.map(({ at, ids, seen }) => ({
    ids,
    isPartial: isPartial(looks[at]?.kind, seen, ids.length < ask.limit),
  }))
}

function isPartial(kind: LookKind | undefined, seen: number, isShort: boolean): boolean {
  if (kind === 'glance' || kind === 'window') return isShort && seen === LOOKED_AT[kind]
  return kind === 'some' && seen > SOME
}

interface Ask {
  search: Search
  range: IdRange
  limit: number
}

/** One row: the ids, and how many runs were looked at. */
function lookQuery({ table, kind }: Look, { search, range, limit }: Ask): RawBuilder<unknown> {
  const from = sql.table(table)
  switch (kind) {
    case 'exact':
      return sql`SELECT array(${led(from, search, { range, limit })}) AS ids, 0 AS seen`
    case 'glance':
    case 'window':
      // Run by run, so that it stops when it has enough.
      return sql`
        WITH newest(run_id) AS MATERIALIZED (${led(from, search, { range, limit: LOOKED_AT[kind] })})
        SELECT array(
          SELECT run_id FROM (SELECT run_id FROM newest ORDER BY run_id DESC) AS newest
          CROSS JOIN LATERAL (
            SELECT FROM ${from} AS t WHERE t.id = run_id AND ${and(search.rest)} OFFSET 0) AS matching
          ORDER BY run_id DESC LIMIT ${limit}) AS ids,
        (SELECT count(*)::int FROM newest) AS seen`
    case 'some':
    case 'every': {
      const { gathered, checked } = shareOut(search, kind)
      return sql`
        WITH found AS MATERIALIZED (
          SELECT id, ${and(checked)} AS matches FROM ${from} WHERE ${and([...gathered, ...within(range)])}
          ${kind === 'some' ? sql`LIMIT ${SOME + 1}` : sql``})
        SELECT array(SELECT id FROM found WHERE matches ORDER BY id DESC LIMIT ${limit}) AS ids,
        (SELECT count(*)::int FROM found) AS seen`
    }
  }
}

/** The conditions that runs are gathered by, and those that these are then checked with. */
function shareOut({ gathered, others }: Search, kind: 'some' | 'every') {
  if (gathered === undefined) return { gathered: others, checked: [] }
  if (kind === 'every') return { gathered: [gathered, ...others], checked: [] }
  return { gathered: [gathered], checked: others }
}

/** The newest ids for which the leading condition holds; with states, of each, and of each queue, the newest first. */
function led(
  from: RawBuilder<unknown>,
  { states, queuesOf, lead }: Search,
  { range, limit }: { range: IdRange; limit: number },
): RawBuilder<unknown> {
  if (states === undefined)
    return sql`SELECT id FROM ${from} WHERE ${and([lead, ...within(range)])}
      ORDER BY id DESC LIMIT ${limit}`
  const ofJob =
    queuesOf === undefined ? sql`` : sql`CROSS JOIN ${queuesOfJob(from, queuesOf)} AS of_job`
  const ofQueue = queuesOf === undefined ? [] : [sql`r.queue = of_job.queue`]
  return sql`
    SELECT newest.id FROM unnest(${states}::text[]) AS each(state) ${ofJob}
    CROSS JOIN LATERAL (
      SELECT id FROM ${from} AS r
      WHERE ${and([lead, ...ofQueue, sql`r.state = each.state`, ...within(range)])}
      ORDER BY id DESC LIMIT ${limit}) AS newest
    ORDER BY newest.id DESC LIMIT ${limit}`
}

function within({ from, before }: IdRange): RawBuilder<unknown>[] {
  return [
    ...(from === undefined ? [] : [sql`id >= ${from}::uuid`]),
    ...(before === undefined ? [] : [sql`id < ${before}::uuid`]),
  ]
}

function and(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `)
}
