import { DAY, type Pause, type Schedule, ScheduleId, type ScheduleVersion } from '@jadwal/domain'
import { type Kysely, sql } from 'kysely'
import { CalendarReader } from './calendar-reader.ts'
import type { Database } from './database.ts'
import { SpecReader } from './spec-reader.ts'

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
export const OWES_FOR_MS = 30 * DAY

/** Schedules in one query. */
const PAGE = 5_000

/** Grows with each change of any schedule; cheap enough to ask each second. */
export async function readScheduleRevision(db: Kysely<Database>): Promise<number> {
  const row = await db.selectFrom('schedule_revision').select('revision').executeTakeFirstOrThrow()
  return row.revision
}

/**
 * All schedules, or those that changed after revision `since`, each with every version that may still
 * owe a tick, oldest first. A deleted one is there with an end on its last version; without any
 * version when that ended long ago. Without their payloads all those of one rule share it.
 */
export async function loadSchedules(
  db: Kysely<Database>,
  since?: number,
  { withPayloads = true }: { withPayloads?: boolean } = {},
): Promise<LoadedSchedules> {
  // Read before the schedules: what changes in between is then loaded twice, never missed.
  const revision = await readScheduleRevision(db)
  const pauses = await selectPauses(db, since)
  const readers = { specs: new SpecReader(), calendars: new CalendarReader() }
  const problems: LoadedSchedules['problems'] = []
  const schedules: (Schedule & { versions: readonly ScheduleVersion[] })[] = []
  let rows: StoredVersion[]
  do {
    rows = await selectVersions(db, { since, after: schedules.at(-1)?.id, withPayloads })
    await readers.calendars.fetch(
      db,
      rows.flatMap((row) => row.calendars ?? []),
    )
    for (const row of rows) {
      let schedule = schedules.at(-1)
      if (schedule?.id !== row.id) {
        const own = pauses.get(row.id)
        const id = ScheduleId.parse(row.id)
        schedule = { id, name: row.name, versions: [], ...(own ? { pauses: own } : {}) }
        schedules.push(schedule)
      }
      const version = readVersion(row, { ...readers, problems })
      // An array that grows takes room for seventeen; there may be 100,000 of these.
      if (version) schedule.versions = schedule.versions.concat(version)
    }
  } while (rows.length > 0)
  return { revision, schedules, pauses: pauses.get(EVERYTHING) ?? [], problems }
}

interface VersionReaders {
  specs: SpecReader
  calendars: CalendarReader
  problems: LoadedSchedules['problems']
}

/** Undefined when there is none, or it does not parse. */
function readVersion(
  row: StoredVersion,
  { specs, calendars: calendarReader, problems }: VersionReaders,
): ScheduleVersion | undefined {
  if (row.version === null || row.from_at === null || row.rule === null) return undefined
  const read = specs.read({ rule: row.rule, payload: row.payload })
  if ('problem' in read) {
    problems.push({ schedule: row.name, version: row.version, problem: read.problem })
    return undefined
  }
  const calendars = calendarReader.read(row.calendars ?? '{}')
  return {
    version: row.version,
    spec: read.spec,
    fromMs: row.from_at.getTime(),
    ...(row.until_at ? { untilMs: row.until_at.getTime() } : {}),
    ...(Object.keys(calendars).length > 0 ? { calendars } : {}),
  }
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

type StoredVersion = Awaited<ReturnType<typeof selectVersions>>[number]

/** The versions of the next schedules after one, so that never more than a page is in memory twice. */
function selectVersions(
  db: Kysely<Database>,
  {
    since,
    after,
    withPayloads,
  }: { since: number | undefined; after: string | undefined; withPayloads: boolean },
) {
  let page = db.selectFrom('schedules').select(['id', 'name']).orderBy('id').limit(PAGE)
  if (since !== undefined) page = page.where('revision', '>', since)
  if (after !== undefined) page = page.where('id', '>', after)
  return db
    .selectFrom(page.as('s'))
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
    .select(['s.id', 's.name', 'v.version', 'v.from_at', 'v.until_at'])
    .select([
      sql<string | null>`v.calendars::text`.as('calendars'),
      sql<
        string | null
      >`(CASE jsonb_typeof(v.spec) WHEN 'object' THEN v.spec - 'payload' ELSE v.spec END)::text`.as(
        'rule',
      ),
      sql<string | null>`CASE WHEN ${withPayloads} THEN (v.spec -> 'payload')::text END`.as(
        'payload',
      ),
    ])
    .orderBy('s.id')
    .orderBy('v.version')
    .execute()
}
