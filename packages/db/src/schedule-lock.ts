import { type Kysely, sql, Transaction } from 'kysely'
import { LineClosedError, lineOf } from './change-line.ts'
import type { Database } from './database.ts'

/**
 * How long a change waits for the one that goes on. One wait is shorter than any limit on a statement,
 * so that whoever waits for others hears of it by our own words.
 */
const PATIENCE = { waitMs: 3_000, waits: 10 }
const LOCK_NOT_AVAILABLE = '55P03'

/** Another change of schedules went on for as long as this one would wait. */
export class SchedulesBusyError extends Error {
  override name = 'SchedulesBusyError'
  readonly code = 'SCHEDULES_BUSY'

  constructor(options: ErrorOptions) {
    super('another change of the schedules is still under way: try again later', options)
  }
}

/**
 * Does something in a transaction while no other changes schedules, calendars or pauses; those who come
 * wait, most of them without a connection. Given a transaction, which is one that has the lock already,
 * it is done in that. Throws SchedulesBusyError.
 */
export async function underScheduleLock<T>(
  db: Kysely<Database>,
  work: (tx: Transaction<Database>) => Promise<T>,
  patience = PATIENCE,
): Promise<T> {
  if (db instanceof Transaction) return work(db)
  const line = lineOf(db)
  await line.enter().catch((error: unknown) => {
    throw error instanceof LineClosedError ? new SchedulesBusyError({ cause: error }) : error
  })
  try {
    return await lockAndWork(db, work, patience)
  } catch (error) {
    if (error instanceof SchedulesBusyError) line.disperse()
    throw error
  } finally {
    line.leave()
  }
}

async function lockAndWork<T>(
  db: Kysely<Database>,
  work: (tx: Transaction<Database>) => Promise<T>,
  { waitMs, waits }: typeof PATIENCE,
): Promise<T> {
  for (let wait = 1; ; wait += 1) {
    try {
      return await db.transaction().execute(async (tx) => {
        await sql`SELECT set_config('lock_timeout', ${`${waitMs}ms`}, true)`.execute(tx)
        await sql`SELECT pg_advisory_xact_lock(hashtext('jadwal schedules'))`.execute(tx)
        return work(tx)
      })
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (wait === waits) throw new SchedulesBusyError({ cause: error })
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE
}

/** Of one change of schedules. */
export interface ChangeMark {
  revision: number
  /** By the clock of Postgres, in whole milliseconds, as the scheduler counts. */
  instant: Date
}

/** Makes those who keep the schedules in memory look again. The instant of the change lies `aheadMs` from now. */
export async function bumpRevision(tx: Transaction<Database>, aheadMs = 0): Promise<ChangeMark> {
  const { rows } = await sql<ChangeMark>`
    UPDATE ${sql.table('schedule_revision')} SET revision = revision + 1
    RETURNING revision, date_trunc('milliseconds', clock_timestamp())
      + ${aheadMs} * interval '1 millisecond' AS instant`.execute(tx)
  if (!rows[0]) throw new Error('the row of schedule_revision is gone: insert it again')
  return rows[0]
}
