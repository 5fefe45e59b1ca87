import {
  type Db,
  findScheduleDuration,
  listRecentDurations,
  type ScheduleDuration,
  type ScheduleInForce,
} from '@jadwal/db'
import {
  cadenceIntervalMs,
  formatDuration,
  type PlannedSchedule,
  scheduleCadence,
  ScheduleId,
  type ScheduleSpec,
} from '@jadwal/domain'
import { readVersion } from './schedule-view.ts'

/** Something about a schedule that somebody should look at. */
export interface ScheduleWarning {
  kind: 'duration-near-interval'
  schedule: string
  message: string
  p95Ms: number
  intervalMs: number
  runs: number
}

/** The payload of a schedule is kept in clear text, though its job encrypts payloads. */
export interface PlainPayloadWarning {
  kind: 'plain-payload'
  schedule: string
  message: string
}

export function plainPayload(schedule: string): PlainPayloadWarning {
  const message =
    'its job encrypts payloads, but a schedule keeps its own, and that of each version, in clear text: give what is secret as { "secret": "NAME" }, and the workers JADWAL_SECRET_NAME'
  return { kind: 'plain-payload', schedule, message }
}

/** So long, as a part of the shortest interval, is near it. */
const NEAR = 0.8
/** Fewer runs say nothing. */
const FEWEST_RUNS = 5
const WORST = 20
/** Among so many of the latest runs, of whatever, those that take long are looked for. */
const LOOKED_THROUGH = 20_000

/** The warnings on one schedule in force; none on one that cannot be read. */
export async function warningsOn(db: Db, schedule: ScheduleInForce): Promise<ScheduleWarning[]> {
  const spec = readVersion(schedule)?.spec
  if (!spec) return []
  return lookClosely(db, { id: ScheduleId.parse(schedule.id), name: schedule.name, spec })
}

/** The schedules whose runs fill their interval most, of those that ran lately. */
export async function worstWarnings(
  db: Db,
  schedules: readonly PlannedSchedule[],
): Promise<ScheduleWarning[]> {
  const recent = await listRecentDurations(db, { runs: LOOKED_THROUGH })
  const took = new Map(recent.map(({ id, p95Ms }) => [id, p95Ms]))
  const candidates = schedules
    .flatMap(({ id, name, version: { spec } }) => {
      const ms = took.get(id)
      if (ms === undefined) return []
      const share = ms / cadenceIntervalMs(scheduleCadence(spec))
      return share >= NEAR ? [{ share, id, name, spec }] : []
    })
    .toSorted((a, b) => b.share - a.share)
    .slice(0, WORST)
  const warnings: ScheduleWarning[] = []
  for (const candidate of candidates) warnings.push(...(await lookClosely(db, candidate)))
  return warnings
}

async function lookClosely(
  db: Db,
  { id, name, spec }: { id: ScheduleId; name: string; spec: ScheduleSpec },
): Promise<ScheduleWarning[]> {
  const duration = await findScheduleDuration(db, id)
  return duration ? durationWarnings(name, spec, duration) : []
}

function durationWarnings(
  schedule: string,
  spec: ScheduleSpec,
  { p95Ms, runs }: ScheduleDuration,
): ScheduleWarning[] {
  const intervalMs = cadenceIntervalMs(scheduleCadence(spec))
  if (runs < FEWEST_RUNS || p95Ms < NEAR * intervalMs) return []
  const share = Math.round((p95Ms / intervalMs) * 100)
  const message = `of the last ${runs} runs the slowest in twenty took ${p95Ms} ms or longer, ${share} % of the shortest interval, ${formatDuration(intervalMs)}: ticks will meet unfinished runs`
  return [{ kind: 'duration-near-interval', schedule, message, p95Ms, intervalMs, runs }]
}
