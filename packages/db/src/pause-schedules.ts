import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { type Expected, requirePrecondition } from './precondition.ts'
import { bumpRevision, type ChangeMark, underScheduleLock } from './schedule-lock.ts'

/** What a pause is of: a schedule by its name, or everything. */
export type PauseSubject = ({ schedule: string } & Expected) | 'everything'

export interface PauseRequest {
  author: string
  reason: string | null
  /** Null: until somebody resumes. */
  until: Date | null
}

/** What became of a wish to pause or to resume. */
export type PauseOutcome = 'done' | 'unchanged' | 'not-found'

/**
 * Lets a schedule, or all, rest from now on. A pause that is on ends at the instant the new one begins,
 * so the latest reason and end hold; pausing again with the same ones changes nothing. Throws
 * PreconditionFailedError and SchedulesBusyError.
 */
export async function pauseSchedules(
  db: Kysely<Database>,
  subject: PauseSubject,
  { author, reason, until }: PauseRequest,
): Promise<PauseOutcome> {
  return underScheduleLock(db, async (tx) => {
    const id = await findSubject(tx, subject)
    if (id === undefined) return 'not-found'
    const current = await selectCurrent(tx, id)
    const isSame = current?.reason === reason && current.until_at?.getTime() === until?.getTime()
    if (isSame) return 'unchanged'
    const mark = await bumpRevision(tx)
    await endCurrent(tx, id, { mark, author })
    await sql`
      INSERT INTO ${sql.table('schedule_pauses')} (schedule_id, from_at, until_at, reason, author)
      VALUES (${id}, ${mark.instant}, CASE WHEN ${until}::timestamptz IS NOT NULL
        THEN greatest(${until}::timestamptz, ${mark.instant}::timestamptz) END, ${reason}, ${author})`.execute(
      tx,
    )
    return 'done'
  })
}

/** Ends the pause that is on; ticks from now on fire again. Throws PreconditionFailedError and SchedulesBusyError. */
export async function resumeSchedules(
  db: Kysely<Database>,
  subject: PauseSubject,
  author: string,
): Promise<PauseOutcome> {
  return underScheduleLock(db, async (tx) => {
    const id = await findSubject(tx, subject)
    if (id === undefined) return 'not-found'
    if (!(await selectCurrent(tx, id))) return 'unchanged'
    await endCurrent(tx, id, { mark: await bumpRevision(tx), author })
    return 'done'
  })
}

/** The id of a schedule; null for everything; undefined when there is no such schedule. */
async function findSubject(
  tx: Transaction<Database>,
  subject: PauseSubject,
): Promise<string | null | undefined> {
  if (subject === 'everything') return null
  const row = await tx
    .selectFrom('schedules')
    .select('id')
    .where('name', '=', subject.schedule)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (row) await requirePrecondition(tx, subject)
  return row?.id
}

async function selectCurrent(tx: Transaction<Database>, id: string | null) {
  return tx
    .selectFrom('schedule_pauses')
    .select(['reason', 'until_at'])
    .where('schedule_id', 'is not distinct from', id)
    .where((eb) =>
      eb.or([eb('until_at', 'is', null), eb('until_at', '>', sql<Date>`clock_timestamp()`)]),
    )
    .orderBy('from_at', 'desc')
    .executeTakeFirst()
}

async function endCurrent(
  tx: Transaction<Database>,
  id: string | null,
  { mark, author }: { mark: ChangeMark; author: string },
): Promise<void> {
  await sql`
    UPDATE ${sql.table('schedule_pauses')}
    SET until_at = greatest(from_at, ${mark.instant}::timestamptz), resumed_by = ${author}
    WHERE schedule_id IS NOT DISTINCT FROM ${id}::uuid
      AND (until_at IS NULL OR until_at > ${mark.instant}::timestamptz)`.execute(tx)
  if (id === null) return
  await sql`
    UPDATE ${sql.table('schedules')} SET revision = ${mark.revision} WHERE id = ${id}`.execute(tx)
}
