import type { Kysely, Transaction } from 'kysely'
import { compareSchedules } from './compare-schedules.ts'
import type { Database } from './database.ts'
import { requirePrecondition } from './precondition.ts'
import {
  type AppliedSchedules,
  ChangeRefusedError,
  namesOf,
  type ScheduleChanges,
} from './schedule-change.ts'
import { underScheduleLock } from './schedule-lock.ts'
import { writeSchedules } from './write-schedules.ts'

/**
 * Makes schedules and calendars be as given, in one transaction; others who change some at the same
 * time wait. What differs gets a next version that begins at the instant the old one ends, and so does
 * every schedule that names a calendar which differs. Applying the same again changes nothing. Throws
 * ChangeRefusedError, PreconditionFailedError and SchedulesBusyError.
 */
export async function applySchedules(
  db: Kysely<Database>,
  changes: ScheduleChanges,
): Promise<AppliedSchedules> {
  return underScheduleLock(db, (tx) => applyUnderLock(tx, changes))
}

/** `applySchedules` for one who holds the lock. */
export async function applyUnderLock(
  tx: Transaction<Database>,
  changes: ScheduleChanges,
): Promise<AppliedSchedules> {
  await requirePrecondition(tx, changes.precondition)
  const plan = await compareSchedules(tx, changes)
  if (plan.problems.length > 0) throw new ChangeRefusedError(plan.problems)
  await writeSchedules(tx, changes, plan)
  return {
    added: namesOf(plan.added),
    changed: namesOf(plan.changed),
    removed: namesOf(plan.removed),
    unchanged: plan.unchanged,
    foreign: plan.foreign,
    calendars: plan.calendars,
  }
}
