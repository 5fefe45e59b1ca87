import type { ScheduleInForce } from '@jadwal/db'
import { nextTick, scheduleCadence, ScheduleSpec } from '@jadwal/domain'

/** A schedule as the api shows it: what the file says of it, who wrote it, and when it fires next. */
export function scheduleView(schedule: ScheduleInForce, nowMs: number): Record<string, unknown> {
  const { id, name, spec, version, source, author } = schedule
  return {
    id,
    name,
    ...spec,
    version,
    source,
    author,
    createdAt: schedule.created_at.toISOString(),
    changedAt: schedule.changed_at.toISOString(),
    nextTick: nextTickOf(spec, nowMs),
  }
}

/** ISO 8601; null for a schedule that is paused or over, or that cannot be read. */
export function nextTickOf(stored: Record<string, unknown>, nowMs: number): string | null {
  const spec = ScheduleSpec.safeParse(stored)
  if (!spec.success || spec.data.paused) return null
  const { startsAt, endsAt } = spec.data
  // A tick on the instant of the start counts, and `nextTick` looks strictly after.
  const afterMs = Math.max(nowMs, startsAt == null ? -Infinity : Date.parse(startsAt) - 1)
  const next = nextTick(scheduleCadence(spec.data), afterMs)
  if (next === undefined || (endsAt != null && next > Date.parse(endsAt))) return null
  return new Date(next).toISOString()
}
