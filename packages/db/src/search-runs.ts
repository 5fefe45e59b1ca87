import { DAY, firstUuidAt } from '@jadwal/domain'
import { sql } from 'kysely'
import type { Db } from './database.ts'
import { partitionStart } from './partitions.ts'
import { type Look, type LookKind, type LookResult, takeLooks } from './looks.ts'
import type { IdRange, Search } from './run-filters.ts'
import { schemaOf } from './schema-plugin.ts'

/** What a search may take, in ms; it ends at the day that it has come to then. */
const PATIENCE_MS = 2_000

/** Runs whose day has no partition: those that live on, and those that are kept longer. */
const WITHOUT_DAY = ['runs_default', 'runs_kept']

export interface FoundIds {
  /** Newest first, at most as many as were asked for. */
  ids: string[]
  /** Where to go on: older ids than this were not looked at. Undefined when all were that matter. */
  reachedId?: string
}

/**
 * The ids of the newest runs that a search is for. It goes from day to day, newest first, and stops
 * when it has enough: a plan over all partitions would cost more than most answers, and one with
 * `ORDER BY id LIMIT` walks through all of them where few runs match. The first day is looked at
 * alone, then as many at a time as were before. What has no day is looked at with the first.
 */
export async function searchRuns(
  db: Db,
  search: Search,
  { range, limit }: { range: IdRange; limit: number },
): Promise<FoundIds> {
  const ask = { search, range, limit }
  const startedMs = performance.now()
  const days = await listFilledDays(db, range)
  const found = new Set<string>()
  const isExact = search.rest.length === 0
  const firstKind = isExact ? 'exact' : search.gathered === undefined ? 'window' : 'glance'
  const laterKind = isExact ? 'exact' : 'some'
  for (let at = 0, size = 1; at === 0 || at < days.length; at += size, size = at) {
    const batch = days.slice(at, at + size)
    const kind = at === 0 ? firstKind : laterKind
    const looks: Look[] = batch.map(({ table }) => ({ table, kind }))
    if (at === 0) looks.push(...WITHOUT_DAY.map((table) => ({ table, kind: laterKind }) as const))
    const results = await takeLooks(db, looks, ask)
    for (const { ids } of results) for (const id of ids) found.add(id)
    for (const [place, { isPartial }] of results.entries()) {
      const look = looks[place]
      if (!isPartial || look === undefined) continue
      // Days newer than this one are done; what has no day matters to all.
      const newer = batch[place]?.endsId
      if (newer !== undefined && countFrom(found, newer) >= limit) break
      if (at > 0 && newer !== undefined && performance.now() - startedMs > PATIENCE_MS)
        return { ids: newest(found, limit).filter((id) => id >= newer), reachedId: newer }
      for (const id of (await lookCloser(db, look, ask)).ids) found.add(id)
    }
    const reachedId = batch.at(-1)?.startsId
    if (reachedId === undefined) break
    if (countFrom(found, reachedId) >= limit) break
    const isLast = at + size >= days.length
    if (!isLast && performance.now() - startedMs > PATIENCE_MS)
      return { ids: newest(found, limit).filter((id) => id >= reachedId), reachedId }
  }
  return { ids: newest(found, limit) }
}

/** The looks that follow one that did not tell all. */
const CLOSER: Record<LookKind, readonly LookKind[]> = {
  exact: [],
  glance: ['some', 'window', 'every'],
  window: ['every'],
  some: ['window', 'every'],
  every: [],
}

/**
 * What is common is found in the window; what is not, is little enough to read all of it in one table.
 * What is gathered by one index may be little enough, where Postgres thinks of other filters as rarer.
 */
async function lookCloser(
  db: Db,
  { table, kind }: Look,
  ask: Parameters<typeof takeLooks>[2],
): Promise<LookResult> {
  let result: LookResult = { ids: [], isPartial: true }
  for (const each of CLOSER[kind]) {
    const [looked] = await takeLooks(db, [{ table, kind: each }], ask)
    if (looked) result = looked
    if (!result.isPartial) break
  }
  return result
}

interface FilledDay {
  table: string
  /** The first id of the day, and of the next. */
  startsId: string
  endsId: string
}

/** The days of a range that have rows, newest first. */
async function listFilledDays(db: Db, { from, before }: IdRange): Promise<FilledDay[]> {
  // Else Postgres may ask for the sizes of all tables and indexes before it knows which it needs.
  const { rows } = await sql<{ name: string }>`
    WITH child AS MATERIALIZED (
      SELECT inhrelid AS oid FROM pg_inherits
      WHERE inhparent = to_regclass(${`"${schemaOf(db)}".runs`}))
    SELECT relname AS name FROM pg_class JOIN child USING (oid)
    WHERE pg_relation_size(child.oid) > 0 ORDER BY 1 DESC`.execute(db)
  return rows.flatMap(({ name }) => {
    const startMs = partitionStart(name)
    if (startMs === undefined) return []
    const startsId = firstUuidAt(startMs)
    const endsId = firstUuidAt(startMs + DAY)
    const isOutside =
      (from !== undefined && endsId <= from) || (before !== undefined && startsId >= before)
    return isOutside ? [] : [{ table: name, startsId, endsId }]
  })
}

function newest(ids: ReadonlySet<string>, limit: number): string[] {
  return [...ids].toSorted().toReversed().slice(0, limit)
}

function countFrom(ids: ReadonlySet<string>, first: string): number {
  let count = 0
  for (const id of ids) if (id >= first) count++
  return count
}
