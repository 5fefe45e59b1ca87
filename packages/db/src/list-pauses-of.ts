import type { Pause, ScheduleId } from '@jadwal/domain'
import type { Db } from './database.ts'

/**
 * The pauses that hold for a schedule, its own and those of everything, as far as they last beyond
 * `afterMs`. Served by schedule_pauses_schedule_idx.
 */
export async function listPausesOf(
  db: Db,
  scheduleId: ScheduleId,
  afterMs: number,
): Promise<Pause[]> {
  const rows = await db
    .selectFrom('schedule_pauses')
    .select(['from_at', 'until_at'])
    .where((eb) => eb.or([eb('schedule_id', '=', scheduleId), eb('schedule_id', 'is', null)]))
    .where((eb) => eb.or([eb('until_at', 'is', null), eb('until_at', '>', new Date(afterMs))]))
    .orderBy('from_at')
    .execute()
  return rows.map(toPause)
}

function toPause(row: { from_at: Date; until_at: Date | null }): Pause {
  return {
    fromMs: row.from_at.getTime(),
    ...(row.until_at ? { untilMs: row.until_at.getTime() } : {}),
  }
}
