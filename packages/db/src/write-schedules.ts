import { type RawBuilder, sql, type Transaction } from 'kysely'
import { calendarHash } from './calendar-revisions.ts'
import type { CalendarComparison } from './compare-calendars.ts'
import { CHUNK, type Comparison } from './compare-schedules.ts'
import type { Database } from './database.ts'
import { givenSchedules } from './given-schedules.ts'
import { namesOf, type PlannedSchedule, type ScheduleChanges } from './schedule-change.ts'
import { bumpRevision, type ChangeMark } from './schedule-lock.ts'

/**
 * Versions end and begin so far ahead as writing them takes: the leader must know of it by then, or
 * it fires by the old ones what belongs to the new ones. One schedule changes at once.
 */
const WRITTEN_EACH_MS = 10

/** A change that is being carried out. */
interface Writing {
  tx: Transaction<Database>
  changes: ScheduleChanges
  mark: ChangeMark
  calendars: CalendarComparison
}

/** Carries out what a comparison found, under the lock it was made under. Nothing is done when nothing differs. */
export async function writeSchedules(
  tx: Transaction<Database>,
  changes: ScheduleChanges,
  plan: Comparison,
): Promise<void> {
  const calendars = plan.comparedCalendars
  const { written, outcomes } = calendars
  const { added, changed, removed } = plan
  const count = added.length + changed.length + removed.length
  if (count + written.length + outcomes.removed.length === 0) return
  const aheadMs = Math.floor((changed.length + removed.length) / WRITTEN_EACH_MS)
  const writing = { tx, changes, mark: await bumpRevision(tx, aheadMs), calendars }
  await writeCalendars(writing)
  for (const chunk of chunks(added)) await insertNames(writing, namesOf(chunk))
  for (const chunk of chunks([...changed, ...removed])) await endVersions(writing, namesOf(chunk))
  for (const chunk of chunks([...added, ...changed])) await beginVersions(writing, chunk)
  for (const chunk of chunks(removed)) await markDeleted(writing, namesOf(chunk))
}

function* chunks<T>(all: readonly T[]): Generator<T[]> {
  for (let at = 0; at < all.length; at += CHUNK) yield all.slice(at, at + CHUNK)
}

async function writeCalendars({ tx, changes, mark, calendars }: Writing): Promise<void> {
  const { written, outcomes } = calendars
  if (written.length > 0) {
    const rows = written.map(({ name, input }) => ({ name, spec: input }))
    await sql`
      INSERT INTO ${sql.table('calendars')} (name, spec, source, author, changed_at)
      SELECT name, spec, ${changes.source}::text, ${changes.author}::text, ${mark.instant}::timestamptz
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS given(name text, spec jsonb)
      ON CONFLICT (name) DO UPDATE SET spec = excluded.spec, author = excluded.author,
        changed_at = excluded.changed_at`.execute(tx)
    await sql`
      INSERT INTO ${sql.table('calendar_revisions')} (hash, spec)
      SELECT ${calendarHash(sql.ref('spec'))}, spec FROM ${sql.table('calendars')}
      ON CONFLICT (hash) DO NOTHING`.execute(tx)
  }
  if (outcomes.removed.length > 0)
    await tx.deleteFrom('calendars').where('name', 'in', outcomes.removed).execute()
}

/** No schedule changes before it last did, whatever the clock of Postgres does. */
function changedAt(mark: ChangeMark): RawBuilder<Date> {
  return sql<Date>`greatest(s.changed_at, ${mark.instant}::timestamptz)`
}

/** A deleted schedule keeps its row, and gets its id back when its name comes again. */
async function insertNames({ tx, changes, mark }: Writing, added: string[]): Promise<void> {
  await sql`
    INSERT INTO ${sql.table('schedules')} AS s (name, source, revision, created_at, changed_at)
    SELECT name, ${changes.source}::text, ${mark.revision}::bigint, ${mark.instant}::timestamptz,
      ${mark.instant}::timestamptz
    FROM unnest(${added}::text[]) AS given(name)
    ON CONFLICT (name) DO UPDATE SET source = excluded.source, revision = excluded.revision,
      changed_at = ${changedAt(mark)}, deleted_at = NULL`.execute(tx)
}

async function endVersions({ tx, mark }: Writing, ended: string[]): Promise<void> {
  await sql`
    UPDATE ${sql.table('schedules')} s SET revision = ${mark.revision}, changed_at = ${changedAt(mark)}
    WHERE s.name = ANY (${ended}::text[])`.execute(tx)
  await sql`
    UPDATE ${sql.table('schedule_versions')} v SET until_at = s.changed_at
    FROM ${sql.table('schedules')} s
    WHERE s.id = v.schedule_id AND s.name = ANY (${ended}::text[])
      AND v.until_at IS NULL`.execute(tx)
}

/** The next version begins at the instant the one before ends. */
async function beginVersions(writing: Writing, begun: PlannedSchedule[]): Promise<void> {
  const { tx, changes, calendars } = writing
  const given = begun.map(({ name, after }) => ({ name, input: after?.spec ?? {} }))
  const byCalendar = begun.filter(({ onlyCalendars }) => onlyCalendars)
  await sql`
    INSERT INTO ${sql.table('schedule_versions')}
      (schedule_id, version, spec, calendars, author, reason, from_at)
    SELECT s.id, 1 + coalesce((SELECT max(version) FROM ${sql.table('schedule_versions')} v
        WHERE v.schedule_id = s.id), 0),
      given.spec, given.calendars, ${changes.author}::text,
      CASE WHEN s.name = ANY (${namesOf(byCalendar)}::text[]) THEN ${calendarReason(writing)}::text
        ELSE ${changes.reason ?? null}::text END, s.changed_at
    FROM ${givenSchedules(given, calendars.after)}
    JOIN ${sql.table('schedules')} s ON s.name = given.name`.execute(tx)
}

/** Why a schedule has a new version that says what the one before said. */
function calendarReason({ changes, calendars }: Writing): string {
  const { added, changed } = calendars.outcomes
  const what = `calendar ${[...added, ...changed].join(', ')} changed`
  return changes.reason === undefined ? what : `${what}: ${changes.reason}`
}

async function markDeleted({ tx, changes }: Writing, removed: string[]): Promise<void> {
  const { author, reason = null } = changes
  await sql`
    UPDATE ${sql.table('schedule_versions')} v SET deleted_by = ${author}, deleted_reason = ${reason}
    FROM ${sql.table('schedules')} s
    WHERE s.id = v.schedule_id AND s.name = ANY (${removed}::text[])
      AND v.version = (SELECT max(version) FROM ${sql.table('schedule_versions')} l
        WHERE l.schedule_id = s.id)`.execute(tx)
  await sql`
    UPDATE ${sql.table('schedule_pauses')} p
    SET until_at = greatest(p.from_at, s.changed_at), resumed_by = ${author}
    FROM ${sql.table('schedules')} s
    WHERE s.id = p.schedule_id AND s.name = ANY (${removed}::text[])
      AND (p.until_at IS NULL OR p.until_at > s.changed_at)`.execute(tx)
  await sql`
    UPDATE ${sql.table('schedules')} s SET deleted_at = s.changed_at
    WHERE s.name = ANY (${removed}::text[])`.execute(tx)
}
