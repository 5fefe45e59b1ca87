import { type Expression, type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'
import type { VersionContent } from './version-content.ts'

/** The hashes of calendars by their names, as a version of a schedule has them. */
export type CalendarHashes = Readonly<Record<string, string>>

/** The hash of a calendar's spec. */
export function calendarHash(spec: Expression<unknown>): RawBuilder<string> {
  return sql<string>`encode(sha256(convert_to((${spec})::text, 'UTF8')), 'hex')`
}

/** The calendars of a version by name, as written; `hashes` is its column. Those of many versions are better read by `contentReader`. */
export function calendarsOf(hashes: Expression<unknown>): RawBuilder<Record<string, unknown>> {
  return sql<Record<string, unknown>>`(
    SELECT coalesce(jsonb_object_agg(named.key, revision.spec), '{}')
    FROM jsonb_each_text(${hashes}) AS named
    JOIN ${sql.table('calendar_revisions')} revision ON revision.hash = named.value)`
}

/** What calendars say by their hashes, each once. */
export async function readRevisions(
  db: Db,
  hashes: Iterable<string>,
): Promise<Map<string, Record<string, unknown>>> {
  const wanted = [...new Set(hashes)]
  if (wanted.length === 0) return new Map()
  const rows = await db
    .selectFrom('calendar_revisions')
    .select(['hash', 'spec'])
    .where(sql<boolean>`hash = ANY (${wanted}::text[])`)
    .execute()
  return new Map(rows.map(({ hash, spec }) => [hash, spec]))
}

/** The calendars that hashes stand for. */
export function resolved<T>(
  hashes: CalendarHashes,
  revisions: ReadonlyMap<string, T>,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(hashes).flatMap(([name, hash]) => {
      const calendar = revisions.get(hash)
      return calendar === undefined ? [] : [[name, calendar]]
    }),
  )
}

/** What a version says, as it is stored. */
export interface HashedContent {
  spec: Record<string, unknown>
  calendars: CalendarHashes
}

/** Puts calendars to their hashes. Thousands of versions may name the same large ones: each is fetched once and shared. */
export async function contentReader(
  db: Db,
  stored: readonly HashedContent[],
): Promise<(content: HashedContent) => VersionContent> {
  const revisions = await readRevisions(
    db,
    stored.flatMap(({ calendars }) => Object.values(calendars)),
  )
  return ({ spec, calendars }) => ({ spec, calendars: resolved(calendars, revisions) })
}
