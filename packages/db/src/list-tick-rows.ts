import { firstUuidAt, type ScheduleId, tickRunId } from '@jadwal/domain'
import type { Db, RunRow } from './database.ts'

const COLUMNS = [
  'id',
  'state',
  'reason',
  'tick_at',
  'tick_until',
  'tick_count',
  'term',
  'enqueued_at',
  'started_at',
  'finished_at',
  'late_at',
] as const
/** What the ledger tells of a tick's row: of one tick, or of a range of skipped ones. */
export type LedgerRow = Pick<RunRow, (typeof COLUMNS)[number]> & { tick_at: Date }

/** Rows of a schedule read at a time; runs by hand and of backfills lie between those of ticks. */
const MOST_READ = 2_000

/**
 * The rows of a schedule's ticks in [fromMs, untilMs], and the range that reaches into it from
 * before, oldest first. The ids of these rows carry the instants of their ticks, so a period is a
 * range of runs_schedule_filters_idx, in the partitions of its days. Where there is more than can be read
 * at a time, the rows of `ticks` at least are all there, by their ids.
 */
export async function listTickRows(
  db: Db,
  scheduleId: ScheduleId,
  { fromMs, untilMs, ticks }: { fromMs: number; untilMs: number; ticks: readonly number[] },
): Promise<LedgerRow[]> {
  const read = await db
    .selectFrom('runs_all')
    .select([...COLUMNS, 'backfill_id', 'redrive_of'])
    .where('schedule_id', '=', scheduleId)
    .where('id', '>=', firstUuidAt(fromMs))
    .where('id', '<', firstUuidAt(untilMs + 1))
    .orderBy('id')
    .limit(MOST_READ)
    .execute()
  const rows = read.filter((row) => row.backfill_id === null && row.redrive_of === null)
  const isWhole = read.length < MOST_READ
  const all = isWhole ? rows : [...rows, ...(await findTickRows(db, scheduleId, ticks))]
  const known = new Map(all.filter(isOfTick).map((row) => [row.id, row]))
  const [first] = ticks
  if (first !== undefined && !known.has(tickRunId(scheduleId, first))) {
    const before = await findRowBefore(db, scheduleId, fromMs)
    if (before?.tick_until && before.tick_until.getTime() >= fromMs) known.set(before.id, before)
  }
  return [...known.values()].toSorted((a, b) => a.tick_at.getTime() - b.tick_at.getTime())
}

/** Served by runs_pkey. */
async function findTickRows(
  db: Db,
  scheduleId: ScheduleId,
  ticks: readonly number[],
): Promise<Pick<RunRow, keyof LedgerRow>[]> {
  if (ticks.length === 0) return []
  const ids = ticks.map((tickAtMs) => tickRunId(scheduleId, tickAtMs))
  return db.selectFrom('runs_all').select(COLUMNS).where('id', 'in', ids).execute()
}

/** Rows of ticks do not overlap: if any reaches into a period, it is the last one before it. */
async function findRowBefore(
  db: Db,
  scheduleId: ScheduleId,
  fromMs: number,
): Promise<LedgerRow | undefined> {
  const row = await db
    .selectFrom('runs_all')
    .select(COLUMNS)
    .where('schedule_id', '=', scheduleId)
    .where('id', '<', firstUuidAt(fromMs))
    .where('tick_at', 'is not', null)
    .where('backfill_id', 'is', null)
    .where('redrive_of', 'is', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && isOfTick(row) ? row : undefined
}

function isOfTick<Row extends Pick<RunRow, 'tick_at'>>(row: Row): row is Row & { tick_at: Date } {
  return row.tick_at !== null
}
