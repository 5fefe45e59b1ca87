import type { RunState } from '@jadwal/domain'
import type { Db } from './database.ts'

/** A tick that had not succeeded by the time that its schedule gives it. */
export interface LateTick {
  id: string
  /** Of its run, when it was found to be late. */
  state: RunState
  job: string
  queue: string
  schedule_id: string | null
  schedule: string | null
  tick_at: Date | null
  late_due_at: Date
  labels: Record<string, string> | null
}

/**
 * Marks ticks that were to succeed before `before` and have not, at most `limit`, those first that
 * were due first, and returns them. `announce` is told of them before it counts: when that fails they
 * are found again, so each is announced at least once. No two callers get the same tick.
 *
 * What ended in time has no `late_due_at` any more (see `recordFacts`). Served by runs_late_idx.
 */
export async function markLateTicks(
  db: Db,
  { before, now, limit }: { before: Date; now: Date; limit: number },
  announce: (ticks: readonly LateTick[]) => Promise<void>,
): Promise<LateTick[]> {
  return await db.transaction().execute(async (tx) => {
    // Rows that a recorder is writing are passed over: it never waits in a circle with this.
    const ticks = await selectLate(tx, before, limit).forUpdate().skipLocked().execute()
    if (ticks.length === 0) return []
    const ids = ticks.map((tick) => tick.id)
    await tx.updateTable('runs').set({ late_at: now }).where('id', 'in', ids).execute()
    await announce(ticks)
    return ticks
  })
}

/** Exported for the test that looks at its plan. */
export function selectLate(db: Db, before: Date, limit: number) {
  return db
    .selectFrom('runs')
    .select(['id', 'state', 'job', 'queue', 'schedule_id', 'schedule', 'tick_at', 'labels'])
    .select((eb) => eb.ref('late_due_at').$notNull().as('late_due_at'))
    .where('late_due_at', '<', before)
    .where('late_at', 'is', null)
    .orderBy('late_due_at')
    .limit(limit)
}
