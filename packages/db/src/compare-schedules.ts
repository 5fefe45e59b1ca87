import { ScheduleProblem } from '@jadwal/domain'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { contentReader, type HashedContent } from './calendar-revisions.ts'
import { type CalendarComparison, compareCalendars } from './compare-calendars.ts'
import type { Database, ScheduleSource } from './database.ts'
import { type CalendarTable, givenSchedules } from './given-schedules.ts'
import { namedCalendars } from './named-calendars.ts'
import type { PlannedSchedule, ScheduleChanges, SchedulePlan } from './schedule-change.ts'
import type { VersionContent } from './version-content.ts'

/** Schedules in one statement: none takes long, or much memory. */
export const CHUNK = 5_000
/** Schedules that a problem names. */
const MOST_NAMED = 5

/** A plan, and what it says of calendars. */
export interface Comparison extends SchedulePlan {
  comparedCalendars: CalendarComparison
}

/** Works out what a change does: what `planSchedules` shows and `applySchedules` carries out. */
export async function compareSchedules(
  db: Kysely<Database>,
  changes: ScheduleChanges,
): Promise<Comparison> {
  const calendars = await compareCalendars(db, changes)
  const found = await compareGiven(db, changes, calendars)
  const removed = await listRemoved(db, changes)
  const byCalendar = await listNaming(db, calendars, [
    ...found.filter(({ standing }) => standing !== 'foreign'),
    ...removed.ours,
  ])
  const named = (is: Standing): string[] =>
    found.filter(({ standing }) => standing === is).map(({ name }) => name)
  const planned = (is: Standing): PlannedSchedule[] =>
    found.filter(({ standing }) => standing === is).map(({ standing: _is, ...rest }) => rest)
  return {
    added: planned('absent'),
    changed: [...planned('different'), ...byCalendar.touched].toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    ),
    removed: removed.ours,
    unchanged: named('same'),
    foreign: [...named('foreign'), ...removed.foreign],
    calendars: calendars.outcomes,
    comparedCalendars: calendars,
    problems: [...unknownCalendars(found, calendars), ...byCalendar.problems],
  }
}

type Standing = 'absent' | 'same' | 'different' | 'foreign'
type Compared = PlannedSchedule & { standing: Standing }

async function compareGiven(
  db: Kysely<Database>,
  { schedules, source }: ScheduleChanges,
  { after: calendars }: CalendarComparison,
): Promise<Compared[]> {
  const given = schedules.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const all: Compared[] = []
  for (let at = 0; at < given.length; at += CHUNK) {
    const chunk = given.slice(at, at + CHUNK)
    const rows = await compareChunk(db, givenSchedules(chunk, calendars), source)
    const contentOf = await contentReader(
      db,
      rows.flatMap(({ before }) => before ?? []),
    )
    for (const [index, { name, input }] of chunk.entries()) {
      const row = rows[index]
      if (row?.name !== name) throw new Error(`a schedule is given twice: ${name}`)
      const { id, standing, before } = row
      const after = { spec: input, calendars: pick(input, calendars) }
      all.push({ name, id, standing, ...(before ? { before: contentOf(before) } : {}), after })
    }
  }
  return all
}

/** Of the calendars that there are, those that a schedule names. */
function pick(spec: Record<string, unknown>, calendars: CalendarTable): Record<string, unknown> {
  return Object.fromEntries(
    namedCalendars(spec).flatMap(({ name }) => {
      const calendar = calendars.get(name)
      return calendar ? [[name, calendar.spec]] : []
    }),
  )
}

interface ComparedRow {
  name: string
  id: string | null
  standing: Standing
  /** What is in force, of those that differ. */
  before: HashedContent | null
}

/** One row each, by name. Postgres compares the rules, so the order of keys is no change. */
async function compareChunk(
  db: Kysely<Database>,
  given: RawBuilder<unknown>,
  source: ScheduleSource,
): Promise<ComparedRow[]> {
  const { rows } = await sql<ComparedRow>`
    SELECT name, id, standing, CASE standing WHEN 'different'
      THEN jsonb_build_object('spec', spec, 'calendars', calendars) END AS before
    FROM (
      SELECT given.name, s.id, v.spec, v.calendars, CASE
        WHEN s.id IS NULL OR s.deleted_at IS NOT NULL THEN 'absent'
        WHEN s.source <> ${source} THEN 'foreign'
        WHEN v.spec = given.spec AND v.calendars = given.calendars THEN 'same'
        ELSE 'different' END AS standing
      FROM ${given}
      LEFT JOIN ${sql.table('schedules')} s ON s.name = given.name
      LEFT JOIN ${sql.table('schedule_versions')} v ON v.schedule_id = s.id AND v.until_at IS NULL
    ) AS compared
    ORDER BY name COLLATE "C"`.execute(db)
  return rows
}

interface InForce<Content = VersionContent> {
  name: string
  id: string
  source: ScheduleSource
  before: Content
}

/**
 * What is to be deleted: by name, and by pruning. A schedule file prunes what schedule files wrote,
 * also under another path, and the api's apply what was applied so; the rest is told as foreign.
 */
async function listRemoved(
  db: Kysely<Database>,
  { schedules, source, prune, remove, author }: ScheduleChanges,
): Promise<{ ours: PlannedSchedule[]; foreign: string[] }> {
  const byName = remove?.schedules ?? []
  if (!prune && byName.length === 0) return { ours: [], foreign: [] }
  const found = await selectInForce(
    db,
    sql<boolean>`(s.name = ANY (${byName}::text[]) OR ${prune} AND s.source = ${source}
      AND NOT EXISTS (SELECT FROM unnest(${schedules.map(({ name }) => name)}::text[]) AS given(name)
        WHERE given.name = s.name))`,
  )
  const written = prune ? await listWrittenBy(db, author) : new Set()
  const isOurs = ({ name, source: its }: InForce): boolean =>
    its === source && (byName.includes(name) || written.has(name))
  return {
    ours: found.filter(isOurs).map(({ name, id, before }) => ({ name, id, before })),
    foreign: found.filter((each) => !isOurs(each)).map(({ name }) => name),
  }
}

/** The schedules of which an author of the same kind (the first word: `file /path`, `api`) has written any version. */
async function listWrittenBy(db: Kysely<Database>, author: string): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    SELECT s.name FROM ${sql.table('schedules')} s WHERE s.deleted_at IS NULL
      AND EXISTS (SELECT FROM ${sql.table('schedule_versions')} v
        WHERE v.schedule_id = s.id
          AND split_part(v.author, ' ', 1) = split_part(${author}::text, ' ', 1))`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** The schedules in force, others than those told, that name a calendar which changes or goes. */
async function listNaming(
  db: Kysely<Database>,
  { outcomes, after: calendars }: CalendarComparison,
  told: readonly { name: string }[],
): Promise<{ touched: PlannedSchedule[]; problems: ScheduleProblem[] }> {
  const { added, changed, removed } = outcomes
  const names = [...added, ...changed, ...removed]
  if (names.length === 0) return { touched: [], problems: [] }
  const found = await selectInForce(
    db,
    sql<boolean>`((v.spec #> '{calendars,skip}') ?| ${names}::text[]
        OR (v.spec #> '{calendars,only}') ?| ${names}::text[])
      AND NOT EXISTS (SELECT FROM unnest(${told.map(({ name }) => name)}::text[]) AS told(name)
        WHERE told.name = s.name)`,
  )
  const problems = removed.flatMap((calendar) => {
    const users = found.filter(({ before }) =>
      namedCalendars(before.spec).some(({ name }) => name === calendar),
    )
    return users.length === 0 ? [] : [calendarInUse(calendar, users)]
  })
  const touched = found.map(({ name, id, before }) => {
    const after = { spec: before.spec, calendars: pick(before.spec, calendars) }
    return { name, id, before, after, onlyCalendars: true }
  })
  return { touched, problems }
}

async function selectInForce(
  db: Kysely<Database>,
  condition: RawBuilder<boolean>,
): Promise<InForce[]> {
  const { rows } = await sql<InForce<HashedContent>>`
    SELECT s.name, s.id, s.source,
      jsonb_build_object('spec', v.spec, 'calendars', v.calendars) AS before
    FROM ${sql.table('schedules')} s
    JOIN ${sql.table('schedule_versions')} v ON v.schedule_id = s.id AND v.until_at IS NULL
    WHERE s.deleted_at IS NULL AND ${condition}
    ORDER BY s.name COLLATE "C"`.execute(db)
  const contentOf = await contentReader(
    db,
    rows.map(({ before }) => before),
  )
  return rows.map(({ name, id, source, before }) => ({
    name,
    id,
    source,
    before: contentOf(before),
  }))
}

function unknownCalendars(
  found: readonly Compared[],
  { after: calendars }: CalendarComparison,
): ScheduleProblem[] {
  const known = [...calendars.keys()].toSorted().join(', ')
  const hint = known === '' ? 'there is none' : `known are ${known}`
  return found.flatMap(({ name, standing, after }) => {
    if (standing === 'foreign' || !after) return []
    const unknown = namedCalendars(after.spec).filter((each) => !calendars.has(each.name))
    return unknown.map(
      (each) =>
        new ScheduleProblem(
          `schedules.${name}.${each.field}`,
          `there is no such calendar; ${hint}`,
          each.name,
        ),
    )
  })
}

function calendarInUse(calendar: string, users: readonly { name: string }[]): ScheduleProblem {
  const named = users.slice(0, MOST_NAMED).map(({ name }) => name)
  const more = users.length > named.length ? ` and ${users.length - named.length} more` : ''
  return new ScheduleProblem(
    `calendars.${calendar}`,
    `can't be deleted while schedules name it: ${named.join(', ')}${more}`,
  )
}
