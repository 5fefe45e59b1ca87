import { type Kysely, sql, type Transaction } from 'kysely'
import { calendarHash } from './calendar-revisions.ts'
import type { Database } from './database.ts'

/** What must be so, by the tag of what is to be changed, or else nothing is. '*' is any tag. */
export interface Expected {
  /** It is there, with one of these tags. */
  match?: readonly string[] | '*'
  /** It is not there, or with none of these. */
  noneMatch?: readonly string[] | '*'
}

/** What is expected of which schedule or calendar. */
export type Precondition = Expected & ({ schedule: string } | { calendar: string })

/** It has changed since it was looked at. Nothing was done. */
export class PreconditionFailedError extends Error {
  override name = 'PreconditionFailedError'
  readonly code = 'PRECONDITION_FAILED'
  /** As it is now; undefined when it is not there. */
  readonly tag: string | undefined

  constructor(tag: string | undefined) {
    super(tag === undefined ? 'it is not there' : `its tag is ${tag}`)
    this.tag = tag
  }
}

/** What stands for a schedule as it is now: another after each change and each pause of its own. Undefined: it is not there. */
export async function findScheduleTag(
  db: Kysely<Database>,
  name: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ tag: string }>`
    SELECT revision::text AS tag FROM ${sql.table('schedules')}
    WHERE name = ${name} AND deleted_at IS NULL`.execute(db)
  return rows[0]?.tag
}

/** What stands for a calendar as it is now. Undefined: it is not there. */
export async function findCalendarTag(
  db: Kysely<Database>,
  name: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ tag: string }>`
    SELECT left(${calendarHash(sql.ref('spec'))}, 32) AS tag FROM ${sql.table('calendars')}
    WHERE name = ${name}`.execute(db)
  return rows[0]?.tag
}

/** Asked under the lock of schedules, it holds until the transaction ends. Throws PreconditionFailedError. */
export async function requirePrecondition(
  tx: Transaction<Database>,
  precondition: Precondition | undefined,
): Promise<void> {
  if (precondition?.match === undefined && precondition?.noneMatch === undefined) return
  const tag =
    'schedule' in precondition
      ? await findScheduleTag(tx, precondition.schedule)
      : await findCalendarTag(tx, precondition.calendar)
  if (!isExpected(tag, precondition)) throw new PreconditionFailedError(tag)
}

/** Whether what has this tag, or is not there, is as expected. */
export function isExpected(tag: string | undefined, { match, noneMatch }: Expected): boolean {
  if (match !== undefined && !(tag !== undefined && isAmong(tag, match))) return false
  return noneMatch === undefined || tag === undefined || !isAmong(tag, noneMatch)
}

function isAmong(tag: string, tags: readonly string[] | '*'): boolean {
  return tags === '*' || tags.includes(tag)
}
