import type { TestDatabase } from '@jadwal/testkit'
import type { ExpectedSchedule, Span } from '../ledger/expected-schedule.ts'
import { grouped, type HistoryRow, type Term } from '../ledger/history.ts'
import { writtenCadence } from '../ledger/written-cadence.ts'

type Db = TestDatabase['db']

/** What was asked for: every schedule with all it ever said, deleted ones too, as its author wrote it. */
export async function readExpected(db: Db): Promise<ExpectedSchedule[]> {
  const versions = await db
    .selectFrom('schedule_versions')
    .select(['schedule_id', 'spec', 'from_at', 'until_at'])
    .orderBy('version')
    .execute()
  const pauses = await db
    .selectFrom('schedule_pauses')
    .select(['schedule_id', 'from_at', 'until_at'])
    .execute()
  return [...grouped(versions, ({ schedule_id }) => schedule_id)].map(([id, own]) => ({
    id,
    versions: own.map(({ spec, ...span }) => ({
      cadence: writtenCadence(spec),
      paused: spec['paused'] === true,
      ...clipped(spanOf(span), spec),
    })),
    pauses: pauses.filter((pause) => [null, id].includes(pause.schedule_id)).map(spanOf),
  }))
}

/** What came of it. */
export async function readHistory(db: Db): Promise<{ rows: HistoryRow[]; terms: Term[] }> {
  const rows = await db
    .selectFrom('runs')
    .select([
      'id',
      'schedule_id',
      'tick_at',
      'tick_until',
      'tick_count',
      'backfill_id',
      'redrive_of',
      'state',
      'reason',
      'term',
      'enqueued_at',
      'started_at',
      'finished_at',
    ])
    .execute()
  const terms = await db
    .selectFrom('leader_terms')
    .select(['term', 'from_at', 'until_at'])
    .execute()
  return { rows, terms }
}

function spanOf({ from_at, until_at }: { from_at: Date; until_at: Date | null }): Span {
  return { fromMs: from_at.getTime(), ...(until_at ? { untilMs: until_at.getTime() } : {}) }
}

/** The time of a version, less what is before its first date and after its last one; both dates count. */
function clipped(
  { fromMs, untilMs }: Span,
  { startsAt, endsAt }: Readonly<Record<string, unknown>>,
): Span {
  const startMs = typeof startsAt === 'string' ? Date.parse(startsAt) - 1 : fromMs
  const endMs = typeof endsAt === 'string' ? Date.parse(endsAt) : untilMs
  const ends = [untilMs, endMs].filter((end) => end !== undefined)
  return {
    fromMs: Math.max(fromMs, startMs),
    ...(ends.length > 0 ? { untilMs: Math.min(...ends) } : {}),
  }
}
