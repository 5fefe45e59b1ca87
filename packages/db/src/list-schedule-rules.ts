import type { Pause, ScheduleId } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'

/** What of a schedule in force says when it ticks. */
export interface ScheduleRule {
  id: ScheduleId
  name: string
  /** JSON as Postgres writes it: equal rules are equal texts. */
  rule: string
}

/** Few and large: before Postgres has counted fresh rows, each batch costs it a look at all of them. */
const BATCH = 20_000

/** All schedules in force, many thousands at a time. Served by schedule_versions_one_is_in_force_idx. */
export async function* listScheduleRules(db: Db): AsyncGenerator<ScheduleRule[], void, undefined> {
  let last = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const inForce = db
      .selectFrom('schedule_versions')
      .select(['schedule_id', 'spec'])
      .where('until_at', 'is', null)
      .where('schedule_id', '>', last)
      .orderBy('schedule_id')
      .limit(BATCH)
    const rows = await db
      .selectFrom(inForce.as('v'))
      .innerJoin('schedules as s', 's.id', 'v.schedule_id')
      .select(['s.id', 's.name', 's.deleted_at', RULE.as('rule')])
      .orderBy('v.schedule_id')
      .execute()
    yield rows.flatMap(({ id, name, deleted_at: deletedAt, rule }) =>
      deletedAt === null ? [{ id: id as ScheduleId, name, rule }] : [],
    )
    last = rows.at(-1)?.id ?? last
    if (rows.length < BATCH) return
  }
}

const RULE: RawBuilder<string> = sql`(v.spec - ${sql.lit(
  '{payload,description,labels,job,alert,attempts,timeoutMs,priority,overlap,misfire,lateAfter}',
)}::text[])::text`

/** The pauses that last beyond an instant, by schedule; those of everything under the empty name. */
export async function listPausesAfter(db: Db, afterMs: number): Promise<Map<string, Pause[]>> {
  const rows = await db
    .selectFrom('schedule_pauses')
    .select(['schedule_id', 'from_at', 'until_at'])
    .where((eb) => eb.or([eb('until_at', 'is', null), eb('until_at', '>', new Date(afterMs))]))
    .orderBy('from_at')
    .execute()
  const pauses = new Map<string, Pause[]>()
  for (const row of rows) {
    const key = row.schedule_id ?? ''
    const list = pauses.get(key) ?? []
    pauses.set(key, list)
    list.push({
      fromMs: row.from_at.getTime(),
      ...(row.until_at ? { untilMs: row.until_at.getTime() } : {}),
    })
  }
  return pauses
}
