import { ScheduleSpec } from '@jadwal/domain'
import type { Kysely } from 'kysely'
import { applyUnderLock } from './apply-schedules.ts'
import type { Database } from './database.ts'
import { findVersion } from './list-versions.ts'
import type { Precondition } from './precondition.ts'
import type { AppliedSchedules } from './schedule-change.ts'
import { underScheduleLock } from './schedule-lock.ts'

export interface Rollback {
  name: string
  version: number
  author: string
  reason?: string
  precondition?: Precondition
}

/**
 * Makes a schedule that the api has made say again what it said in a version: as a new version, and
 * with the calendars as they are now. Undefined when it is not there, or has no such version or none
 * that can still be read. Throws ChangeRefusedError, PreconditionFailedError and
 * SchedulesBusyError.
 */
export async function rollBackSchedule(
  db: Kysely<Database>,
  { name, version, author, reason, precondition }: Rollback,
): Promise<AppliedSchedules | undefined> {
  return underScheduleLock(db, async (tx) => {
    const found = await findVersion(tx, name, version)
    if (!found || found.isDeleted || !ScheduleSpec.safeParse(found.spec).success) return undefined
    const to = `rolled back to version ${version}`
    return applyUnderLock(tx, {
      schedules: [{ name, input: found.spec }],
      prune: false,
      source: 'api',
      author,
      ...(precondition ? { precondition } : {}),
      reason: reason === undefined ? to : `${to}: ${reason}`,
    })
  })
}
