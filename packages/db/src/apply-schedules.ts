import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database, ScheduleSource } from './database.ts'

export interface ScheduleChanges {
  /** Each as written, with the file's defaults filled in, and already found valid. */
  schedules: readonly { name: string; input: Record<string, unknown> }[]
  /** Delete the schedules of the same source that are not named. */
  prune: boolean
  source: ScheduleSource
  /** Who asked for it. */
  author: string
}

/** Names, by what became of them. */
export interface AppliedSchedules {
  added: string[]
  changed: string[]
  removed: string[]
  unchanged: string[]
  /** Belong to another source: left alone. */
  foreign: string[]
}

/**
 * Makes the schedules be as given, in one transaction; others who apply at the same time wait. What
 * differs gets a next version that begins at the instant the old one ends. A deleted schedule keeps
 * its row, and gets its id back when its name comes again. Applying the same again changes nothing.
 */
export async function applySchedules(
  db: Kysely<Database>,
  changes: ScheduleChanges,
): Promise<AppliedSchedules> {
  return db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('jadwal schedules'))`.execute(tx)
    const found = await compareSchedules(tx, changes)
    const removed = changes.prune ? await listUnnamed(tx, changes) : []
    const named = (is: Standing): string[] =>
      found.filter(({ standing }) => standing === is).map(({ name }) => name)
    const added = named('absent')
    const changed = named('different')
    if (added.length + changed.length + removed.length > 0) {
      const at = await bumpRevision(tx)
      await upsertNames(tx, changes, { names: [...added, ...changed], at })
      await closeVersions(tx, [...changed, ...removed], at)
      await openVersions(tx, changes, { names: [...added, ...changed], at })
      await markDeleted(tx, removed, at)
    }
    return { added, changed, removed, unchanged: named('same'), foreign: named('foreign') }
  })
}

type Standing = 'absent' | 'same' | 'different' | 'foreign'

interface Change {
  revision: number
  /** Whole milliseconds, as the scheduler counts; the same for the end of a version and the start of the next. */
  instant: Date
}

/** How each given schedule stands to what is there. Postgres compares the rules, so key order is no change. */
async function compareSchedules(
  tx: Transaction<Database>,
  { schedules, source }: ScheduleChanges,
): Promise<{ name: string; standing: Standing }[]> {
  const { rows } = await sql<{ name: string; standing: Standing }>`
    SELECT given.name, CASE
      WHEN s.id IS NULL OR s.deleted_at IS NOT NULL THEN 'absent'
      WHEN s.source <> ${source} THEN 'foreign'
      WHEN v.spec = given.spec THEN 'same'
      ELSE 'different' END AS standing
    FROM ${givenSchedules(schedules)}
    LEFT JOIN ${sql.table('schedules')} s ON s.name = given.name
    LEFT JOIN ${sql.table('schedule_versions')} v ON v.schedule_id = s.id AND v.until_at IS NULL
    ORDER BY given.name`.execute(tx)
  return rows
}

async function listUnnamed(
  tx: Transaction<Database>,
  { schedules, source }: ScheduleChanges,
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT s.name FROM ${sql.table('schedules')} s
    WHERE s.source = ${source} AND s.deleted_at IS NULL
      AND s.name <> ALL (${schedules.map(({ name }) => name)}::text[])
    ORDER BY 1`.execute(tx)
  return rows.map((row) => row.name)
}

/** The instant is Postgres' own, and never before the start of a version that it has to end. */
async function bumpRevision(tx: Transaction<Database>): Promise<Change> {
  const { rows } = await sql<Change>`
    UPDATE ${sql.table('schedule_revision')} SET revision = revision + 1
    RETURNING revision, (SELECT greatest(date_trunc('milliseconds', clock_timestamp()), max(changed_at))
      FROM ${sql.table('schedules')}) AS instant`.execute(tx)
  if (!rows[0]) throw new Error('the row of schedule_revision is gone: insert it again')
  return rows[0]
}

async function upsertNames(
  tx: Transaction<Database>,
  { source }: ScheduleChanges,
  { names, at }: { names: readonly string[]; at: Change },
): Promise<void> {
  await sql`
    INSERT INTO ${sql.table('schedules')} AS s (name, source, revision, created_at, changed_at)
    SELECT name, ${source}::text, ${at.revision}::bigint, ${at.instant}::timestamptz, ${at.instant}::timestamptz
    FROM unnest(${names}::text[]) AS given(name)
    ON CONFLICT (name) DO UPDATE SET source = excluded.source, revision = excluded.revision,
      changed_at = excluded.changed_at, deleted_at = NULL`.execute(tx)
}

async function closeVersions(
  tx: Transaction<Database>,
  names: readonly string[],
  at: Change,
): Promise<void> {
  await sql`
    UPDATE ${sql.table('schedule_versions')} v SET until_at = ${at.instant}
    FROM ${sql.table('schedules')} s
    WHERE s.id = v.schedule_id AND s.name = ANY (${names}::text[]) AND v.until_at IS NULL`.execute(
    tx,
  )
}

async function openVersions(
  tx: Transaction<Database>,
  { schedules, author }: ScheduleChanges,
  { names, at }: { names: readonly string[]; at: Change },
): Promise<void> {
  await sql`
    INSERT INTO ${sql.table('schedule_versions')} (schedule_id, version, spec, author, from_at)
    SELECT s.id, 1 + coalesce((SELECT max(version) FROM ${sql.table('schedule_versions')} v WHERE v.schedule_id = s.id), 0),
      given.spec, ${author}::text, ${at.instant}::timestamptz
    FROM ${givenSchedules(schedules)}
    JOIN ${sql.table('schedules')} s ON s.name = given.name
    WHERE given.name = ANY (${names}::text[])`.execute(tx)
}

async function markDeleted(
  tx: Transaction<Database>,
  names: readonly string[],
  at: Change,
): Promise<void> {
  await sql`
    UPDATE ${sql.table('schedules')} s
    SET deleted_at = ${at.instant}, changed_at = ${at.instant}, revision = ${at.revision}
    WHERE s.name = ANY (${names}::text[])`.execute(tx)
}

/** What was given, as a table of the statement. */
function givenSchedules(schedules: ScheduleChanges['schedules']) {
  const rows = schedules.map(({ name, input }) => ({ name, spec: input }))
  return sql`json_to_recordset(${JSON.stringify(rows)}::json) AS given(name text, spec jsonb)`
}
