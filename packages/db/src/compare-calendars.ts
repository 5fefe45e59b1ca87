import { diffSpecs } from '@jadwal/domain'
import { type Kysely, sql } from 'kysely'
import { calendarHash } from './calendar-revisions.ts'
import type { Database, ScheduleSource } from './database.ts'
import type { CalendarTable } from './given-schedules.ts'
import type { Given, Outcomes, ScheduleChanges } from './schedule-change.ts'

export interface CalendarComparison {
  outcomes: Outcomes
  /** Those that are added or changed. */
  written: Given[]
  /** All that there are after the change, by name. */
  after: CalendarTable
}

/** How each given calendar stands to what is there. */
export async function compareCalendars(
  db: Kysely<Database>,
  changes: ScheduleChanges,
): Promise<CalendarComparison> {
  const { calendars: given = [], source, prune, remove, author } = changes
  const stored = await db
    .selectFrom('calendars')
    .select(['name', 'spec', 'source', 'author', calendarHash(sql.ref('spec')).as('hash')])
    .execute()
  const before = new Map(stored.map((row) => [row.name, row]))
  const outcomes = judge(given, before, source)
  const named = new Set(given.map(({ name }) => name))
  const isOwn = (row: { source: ScheduleSource; author: string }): boolean =>
    row.source === source && row.author.split(' ')[0] === author.split(' ')[0]
  const own = stored.filter(isOwn).map(({ name }) => name)
  for (const name of remove?.calendars ?? [])
    outcomes[before.get(name)?.source === source ? 'removed' : 'foreign'].push(name)
  if (prune) outcomes.removed.push(...own.filter((name) => !named.has(name)))
  outcomes.foreign = outcomes.foreign.filter((name) => before.has(name))

  const isWritten = new Set([...outcomes.added, ...outcomes.changed])
  const written = given.filter(({ name }) => isWritten.has(name))
  const after = new Map(stored.map(({ name, spec, hash }) => [name, { spec, hash }]))
  const hashes = await hashesOf(db, written)
  for (const { name, input: spec } of written)
    after.set(name, { spec, hash: hashes.get(name) ?? '' })
  for (const name of outcomes.removed) after.delete(name)
  return { outcomes, written, after }
}

/** By name. Asked of Postgres, whose JSON has one text however it was written. */
async function hashesOf(
  db: Kysely<Database>,
  written: readonly Given[],
): Promise<Map<string, string>> {
  if (written.length === 0) return new Map()
  const specs = Object.fromEntries(written.map(({ name, input }) => [name, input]))
  const { rows } = await sql<{ name: string; hash: string }>`
    SELECT key AS name, ${calendarHash(sql.ref('value'))} AS hash
    FROM jsonb_each(${JSON.stringify(specs)}::jsonb)`.execute(db)
  return new Map(rows.map(({ name, hash }) => [name, hash]))
}

function judge(
  given: readonly Given[],
  before: ReadonlyMap<string, { spec: Record<string, unknown>; source: ScheduleSource }>,
  source: ScheduleSource,
): Outcomes {
  const outcomes: Outcomes = { added: [], changed: [], removed: [], unchanged: [], foreign: [] }
  for (const { name, input } of given.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const stored = before.get(name)
    if (!stored) outcomes.added.push(name)
    else if (stored.source !== source) outcomes.foreign.push(name)
    else if (diffSpecs(stored.spec, input).length === 0) outcomes.unchanged.push(name)
    else outcomes.changed.push(name)
  }
  return outcomes
}
