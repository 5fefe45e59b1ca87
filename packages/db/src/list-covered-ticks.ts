import { firstUuidAt, ScheduleId, tickRunId } from '@jadwal/domain'
import { sql } from 'kysely'
import type { Db } from './database.ts'

/**
 * Which of these ticks need no run of a backfill: their own run or one of any backfill has succeeded,
 * or is unfinished and may yet. A run that waits of a cancelled backfill will not. Own runs are found by
 * their ids, those of backfills through runs_backfill_idx in the partitions since the first of these.
 */
export async function listCoveredTicks(
  db: Db,
  scheduleId: string,
  ticksMs: readonly number[],
): Promise<Set<number>> {
  if (ticksMs.length === 0) return new Set()
  const own = await listOwn(db, scheduleId, ticksMs)
  for (const tickMs of await listBackfilled(db, scheduleId, ticksMs)) own.add(tickMs)
  return own
}

async function listOwn(
  db: Db,
  scheduleId: string,
  ticksMs: readonly number[],
): Promise<Set<number>> {
  const id = ScheduleId.parse(scheduleId)
  const tickOf = new Map(ticksMs.map((tickMs) => [String(tickRunId(id, tickMs)), tickMs]))
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where(sql<boolean>`id = ANY (${[...tickOf.keys()]}::uuid[])`)
    .where('state', 'in', ['succeeded', 'queued', 'running', 'retrying'])
    .execute()
  return new Set(rows.flatMap((row) => tickOf.get(row.id) ?? []))
}

async function listBackfilled(
  db: Db,
  scheduleId: string,
  ticksMs: readonly number[],
): Promise<number[]> {
  const backfills = await db
    .selectFrom('backfills')
    .select(['id', 'state', 'created_at'])
    .where('schedule_id', '=', scheduleId)
    .where('from_at', '<=', new Date(Math.max(...ticksMs)))
    .where('until_at', '>', new Date(Math.min(...ticksMs)))
    .execute()
  if (backfills.length === 0) return []
  const ids = backfills.map(({ id }) => id)
  const going = backfills.filter(({ state }) => state !== 'cancelled').map(({ id }) => id)
  const firstId = firstUuidAt(Math.min(...backfills.map((each) => each.created_at.getTime())))
  const ticks = ticksMs.map((tickMs) => new Date(tickMs))
  const rows = await db
    .selectFrom('runs')
    .select('tick_at')
    .distinct()
    .where('id', '>=', firstId)
    .where(sql<boolean>`backfill_id = ANY (${ids}::uuid[])`)
    .where(sql<boolean>`tick_at = ANY (${ticks}::timestamptz[])`)
    .where((eb) =>
      eb.or([
        eb('state', 'in', ['succeeded', 'running']),
        eb.and([
          eb('state', 'in', ['queued', 'retrying']),
          sql<boolean>`backfill_id = ANY (${going}::uuid[])`,
        ]),
      ]),
    )
    .execute()
  return rows.flatMap(({ tick_at }) => tick_at?.getTime() ?? [])
}
