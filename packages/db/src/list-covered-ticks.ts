import { firstUuidAt, redriveRunId, type RunState, ScheduleId, tickRunId } from '@jadwal/domain'
import { sql } from 'kysely'
import type { Db } from './database.ts'

/**
 * Which of these ticks need no run of a backfill: their own run or one of any backfill has succeeded,
 * or is unfinished and may yet; or it died, and that is so of the run that a redrive made of it. A run
 * that waits of a cancelled backfill will not. Own runs and those of redrives are found by their ids,
 * those of backfills through runs_backfill_idx in the partitions since the first of these.
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
  return await coveredAmong(db, new Map(ticksMs.map((tickMs) => [tickRunId(id, tickMs), tickMs])))
}

const COVERING: readonly RunState[] = ['succeeded', 'queued', 'running', 'retrying']

/** The ticks of those of these runs that cover their tick, or died and have one made by a redrive that does. */
async function coveredAmong(db: Db, runs: ReadonlyMap<string, number>): Promise<Set<number>> {
  const covered = new Set<number>()
  let tickOf = runs
  while (tickOf.size > 0) {
    const rows = await db
      .selectFrom('runs_all')
      .select(['id', 'state'])
      .where(sql<boolean>`id = ANY (${[...tickOf.keys()]}::uuid[])`)
      .where('state', 'in', [...COVERING, 'dead'])
      .execute()
    const next = new Map<string, number>()
    for (const { id, state } of rows) {
      const tickMs = tickOf.get(id)
      if (tickMs === undefined) continue
      if (state === 'dead') next.set(redriveRunId(id), tickMs)
      else covered.add(tickMs)
    }
    tickOf = next
  }
  return covered
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
    .selectFrom('runs_all')
    .select(['id', 'state', 'tick_at'])
    .where('id', '>=', firstId)
    .where(sql<boolean>`backfill_id = ANY (${ids}::uuid[])`)
    .where(sql<boolean>`tick_at = ANY (${ticks}::timestamptz[])`)
    .where((eb) =>
      eb.or([
        eb('state', 'in', ['succeeded', 'running', 'dead']),
        eb.and([
          eb('state', 'in', ['queued', 'retrying']),
          sql<boolean>`backfill_id = ANY (${going}::uuid[])`,
        ]),
      ]),
    )
    .execute()
  const covered = new Set<number>()
  const redriven = new Map<string, number>()
  for (const { id, state, tick_at } of rows) {
    if (tick_at === null) continue
    if (state === 'dead') redriven.set(redriveRunId(id), tick_at.getTime())
    else covered.add(tick_at.getTime())
  }
  return [...covered, ...(await coveredAmong(db, redriven))]
}
