import type { Kysely } from 'kysely'
import { applyUnderLock } from './apply-schedules.ts'
import type { Database } from './database.ts'
import type { AppliedSchedules, ScheduleChanges } from './schedule-change.ts'
import { underScheduleLock } from './schedule-lock.ts'

/** Schedules of which the versions are told. */
const MOST_TOLD = 200

interface VersionOf {
  schedule: string
  version: number
}

/** The versions that a change ended, and those that it began: of the first 200 schedules. */
interface ChangedVersions {
  before: VersionOf[]
  after: VersionOf[]
}

/** `applySchedules`, telling from which versions to which. */
export async function applyTellingVersions(
  db: Kysely<Database>,
  changes: ScheduleChanges,
): Promise<{ applied: AppliedSchedules; versions: ChangedVersions }> {
  return underScheduleLock(db, async (tx) => {
    const applied = await applyUnderLock(tx, changes)
    return { applied, versions: await changedVersions(tx, applied) }
  })
}

async function changedVersions(
  db: Kysely<Database>,
  { added, changed, removed }: AppliedSchedules,
): Promise<ChangedVersions> {
  const told = [...changed, ...removed, ...added].slice(0, MOST_TOLD)
  if (told.length === 0) return { before: [], after: [] }
  const latest = await db
    .selectFrom('schedules as s')
    .innerJoin('schedule_versions as v', 'v.schedule_id', 's.id')
    .where('s.name', 'in', told)
    .groupBy('s.name')
    .orderBy('s.name')
    .select(({ fn }) => ['s.name as schedule', fn.max<number>('v.version').as('version')])
    .execute()
  const [areChanged, areRemoved] = [new Set(changed), new Set(removed)]
  return {
    before: latest.flatMap(({ schedule, version }) => {
      if (areRemoved.has(schedule)) return [{ schedule, version }]
      return areChanged.has(schedule) ? [{ schedule, version: version - 1 }] : []
    }),
    after: latest.filter(({ schedule }) => !areRemoved.has(schedule)),
  }
}
