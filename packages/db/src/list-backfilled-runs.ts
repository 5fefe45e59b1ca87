import type { RunState, ScheduleId } from '@jadwal/domain'
import type { Db } from './database.ts'

export interface BackfilledRun {
  id: string
  state: RunState
  backfillId: string
  tickAtMs: number
}

/** The runs that backfills made for ticks in [fromMs, untilMs]. Served by backfills_schedule_idx and runs_backfill_idx. */
export async function listBackfilledRuns(
  db: Db,
  scheduleId: ScheduleId,
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): Promise<BackfilledRun[]> {
  const [from, until] = [new Date(fromMs), new Date(untilMs)]
  const backfills = await db
    .selectFrom('backfills')
    .select('id')
    .where('schedule_id', '=', scheduleId)
    .where('from_at', '<=', until)
    .where('until_at', '>=', from)
    .orderBy('created_at', 'desc')
    .limit(100)
    .execute()
  if (backfills.length === 0) return []
  const rows = await db
    .selectFrom('runs_all')
    .select(['id', 'state', 'backfill_id', 'tick_at'])
    .where(
      'backfill_id',
      'in',
      backfills.map(({ id }) => id),
    )
    .where('tick_at', '>=', from)
    .where('tick_at', '<=', until)
    .orderBy('tick_at')
    .orderBy('id')
    .limit(10_000)
    .execute()
  return rows.flatMap(({ id, state, backfill_id: backfillId, tick_at: tickAt }) =>
    backfillId && tickAt ? [{ id, state, backfillId, tickAtMs: tickAt.getTime() }] : [],
  )
}
