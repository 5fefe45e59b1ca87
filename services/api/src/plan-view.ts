import { setImmediate } from 'node:timers/promises'
import {
  type Db,
  listCurrentPauses,
  type PlannedSchedule,
  type SchedulePauseRow,
  type SchedulePlan,
  type VersionContent,
} from '@jadwal/db'
import { nextTicks, ScheduleId } from '@jadwal/domain'
import { askHistory } from './ask.ts'
import { PausesById } from './pauses-by-id.ts'
import type { PlanAnswer } from './schedule-file-docs.ts'
import { readVersion, toPause } from './schedule-view.ts'
import { versionDiff } from './version-diff.ts'

const NEXT_TICKS = 5
/** Others are answered each time so many are worked out. */
const AT_ONCE = 500
/** Of a schedule that has no id yet: its jitter is not known, and its ticks do not depend on it. */
const NO_ID = ScheduleId.parse('00000000-0000-4000-8000-000000000000')

/** A plan as the api shows it: with what differs, and the next ticks before and after. */
export async function planView(db: Db, plan: SchedulePlan, nowMs: number): Promise<PlanAnswer> {
  const ids = [...plan.changed, ...plan.removed].flatMap(({ id }) => id ?? [])
  const pauses = new PausesById(await askHistory(() => listCurrentPauses(db, ids)))
  const { added, changed, removed, unchanged, foreign, calendars } = plan
  const view = (planned: PlannedSchedule) => plannedView(planned, pauses.of(planned.id), nowMs)
  return {
    added: await inPortions(added, view),
    changed: await inPortions(changed, view),
    removed: await inPortions(removed, view),
    unchanged,
    foreign,
    calendars,
  }
}

async function inPortions<T, R>(all: readonly T[], view: (each: T) => R): Promise<R[]> {
  const views: R[] = []
  for (const each of all) {
    views.push(view(each))
    if (views.length % AT_ONCE === 0) await setImmediate()
  }
  return views
}

function plannedView(
  { name, id, before, after }: PlannedSchedule,
  pauses: readonly SchedulePauseRow[],
  nowMs: number,
): PlanAnswer['added'][number] {
  const ticks = (content: VersionContent) => {
    const version = readVersion({ version: 0, ...content, from_at: new Date(0) })
    if (!version) return []
    const asked = { afterMs: nowMs, count: NEXT_TICKS, pauses: pauses.map(toPause) }
    return nextTicks(id === null ? NO_ID : ScheduleId.parse(id), version, asked).map(
      ({ tickAtMs, reason }) => {
        const tickAt = new Date(tickAtMs).toISOString()
        return reason ? { tickAt, skipped: reason } : { tickAt }
      },
    )
  }
  return {
    name,
    ...(before && after ? { diff: versionDiff(before, after) } : {}),
    ...(before ? { before: ticks(before) } : {}),
    ...(after ? { after: ticks(after) } : {}),
  }
}
