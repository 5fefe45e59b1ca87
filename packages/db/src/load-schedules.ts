import { DAY, type Schedule, ScheduleId, ScheduleSpec, type ScheduleVersion } from '@jadwal/domain'
import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'

export interface LoadedSchedules {
  /** The revision that these are at least as new as: what to pass as `since` the next time. */
  revision: number
  schedules: Schedule[]
  /** Versions whose stored rule does not parse; they are left out. */
  problems: { schedule: string; version: number; problem: string }[]
}

/** A version that ended longer ago owes nothing any more. */
const OWES_FOR_MS = 30 * DAY

/** Grows with each change of any schedule; cheap enough to ask each second. */
export async function readScheduleRevision(db: Kysely<Database>): Promise<number> {
  const row = await db.selectFrom('schedule_revision').select('revision').executeTakeFirstOrThrow()
  return row.revision
}

/**
 * All schedules, or those that changed after revision `since`, each with every version that may still
 * owe a tick, oldest first. A deleted one is there with an end on its last version; without any
 * version when that ended long ago.
 */
export async function loadSchedules(
  db: Kysely<Database>,
  since?: number,
): Promise<LoadedSchedules> {
  // Read before the schedules: what changes in between is then loaded twice, never missed.
  const revision = await readScheduleRevision(db)
  const rows = await selectVersions(db, since)
  const problems: LoadedSchedules['problems'] = []
  const schedules = new Map<string, Schedule & { versions: ScheduleVersion[] }>()
  for (const row of rows) {
    const schedule = schedules.get(row.id) ?? {
      id: ScheduleId.parse(row.id),
      name: row.name,
      versions: [],
    }
    schedules.set(row.id, schedule)
    if (row.version === null || row.from_at === null) continue
    const spec = ScheduleSpec.safeParse(row.spec)
    if (spec.success) {
      schedule.versions.push({
        version: row.version,
        spec: spec.data,
        fromMs: row.from_at.getTime(),
        ...(row.until_at ? { untilMs: row.until_at.getTime() } : {}),
      })
    } else {
      const problem = spec.error.issues
        .map((issue) => `${issue.path.join('.')}: ${issue.message}`)
        .join('; ')
      problems.push({ schedule: row.name, version: row.version, problem })
    }
  }
  return { revision, schedules: [...schedules.values()], problems }
}

function selectVersions(db: Kysely<Database>, since: number | undefined) {
  let query = db
    .selectFrom('schedules as s')
    .leftJoin('schedule_versions as v', (join) =>
      join
        .onRef('v.schedule_id', '=', 's.id')
        .on((eb) =>
          eb.or([
            eb('v.until_at', 'is', null),
            eb('v.until_at', '>', sql<Date>`now() - ${OWES_FOR_MS} * interval '1 millisecond'`),
          ]),
        ),
    )
    .select(['s.id', 's.name', 'v.version', 'v.spec', 'v.from_at', 'v.until_at'])
    .orderBy('s.name')
    .orderBy('v.version')
  if (since !== undefined) query = query.where('s.revision', '>', since)
  return query.execute()
}
