import {
  type Calendars,
  CalendarSpec,
  DAY,
  type Pause,
  type Schedule,
  ScheduleId,
  ScheduleSpec,
  type ScheduleVersion,
} from '@jadwal/domain'
import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'

export interface LoadedSchedules {
  /** The revision that these are at least as new as: what to pass as `since` the next time. */
  revision: number
  schedules: Schedule[]
  /** The pauses of everything that may still matter, whatever changed. */
  pauses: Pause[]
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
  const pauses = await selectPauses(db, since)
  const problems: LoadedSchedules['problems'] = []
  const schedules = new Map<string, Schedule & { versions: ScheduleVersion[] }>()
  for (const row of rows) {
    const schedule = schedules.get(row.id) ?? {
      id: ScheduleId.parse(row.id),
      name: row.name,
      versions: [],
      pauses: pauses.get(row.id) ?? [],
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
        calendars: readCalendars(row.calendars ?? {}),
      })
    } else {
      const problem = spec.error.issues
        .map((issue) => `${issue.path.join('.')}: ${issue.message}`)
        .join('; ')
      problems.push({ schedule: row.name, version: row.version, problem })
    }
  }
  const everything = pauses.get(EVERYTHING) ?? []
  return { revision, schedules: [...schedules.values()], pauses: everything, problems }
}

/** Stands for the pauses that no schedule is named in. */
const EVERYTHING = ''

/** The pauses that may still matter, by schedule, oldest first; those of everything always. */
async function selectPauses(
  db: Kysely<Database>,
  since: number | undefined,
): Promise<Map<string, Pause[]>> {
  let query = db
    .selectFrom('schedule_pauses as p')
    .leftJoin('schedules as s', 's.id', 'p.schedule_id')
    .select(['p.schedule_id', 'p.from_at', 'p.until_at'])
    .where((eb) =>
      eb.or([
        eb('p.until_at', 'is', null),
        eb('p.until_at', '>', sql<Date>`now() - ${OWES_FOR_MS} * interval '1 millisecond'`),
      ]),
    )
    .orderBy('p.from_at')
  if (since !== undefined)
    query = query.where((eb) =>
      eb.or([eb('p.schedule_id', 'is', null), eb('s.revision', '>', since)]),
    )
  const pauses = new Map<string, Pause[]>()
  for (const row of await query.execute()) {
    const key = row.schedule_id ?? EVERYTHING
    const list = pauses.get(key) ?? []
    list.push({
      fromMs: row.from_at.getTime(),
      ...(row.until_at ? { untilMs: row.until_at.getTime() } : {}),
    })
    pauses.set(key, list)
  }
  return pauses
}

/** One that does not parse is left out: its schedule fires, rather than resting for no visible reason. */
function readCalendars(stored: object): Calendars {
  return Object.fromEntries(
    Object.entries(stored).flatMap(([name, spec]) => {
      const calendar = CalendarSpec.safeParse(spec)
      return calendar.success ? [[name, calendar.data]] : []
    }),
  )
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
    .select(['s.id', 's.name', 'v.version', 'v.spec', 'v.from_at', 'v.until_at', 'v.calendars'])
    .orderBy('s.name')
    .orderBy('v.version')
  if (since !== undefined) query = query.where('s.revision', '>', since)
  return query.execute()
}
