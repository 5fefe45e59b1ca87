import { type Db, type LateTick, markLateTicks } from '@jadwal/db'
import { SECOND } from '@jadwal/domain'
import { appendEvents, type RedisClock } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import { recordedUntilMs } from './recorded-until.ts'
import type { SchedulerMetrics } from './scheduler-metrics.ts'

const EACH_MS = 2 * SECOND
/** A run's end takes a moment from the worker's clock to the outbox. */
const SLACK_MS = SECOND
const AT_ONCE = 500
/** Schedules named in one line of the log. */
const NAMED = 10

export interface MarkLateDeps {
  db: Db
  redis: Redis
  redisClock: RedisClock
  prefix: string
  metrics: SchedulerMetrics
  log: Logger
}

/**
 * Marks ticks that have not succeeded by the time that their schedule gives them, and raises an event
 * for each. That a run did succeed in time may lie in an outbox still: so only what was due before the
 * oldest fact there is judged. Returns ms until the next time.
 */
export async function markLate(deps: MarkLateDeps): Promise<number> {
  const { db, redis, redisClock, prefix, metrics, log } = deps
  const nowMs = redisClock.nowMs()
  const now = new Date(nowMs)
  const before = new Date(Math.min(nowMs - SLACK_MS, await recordedUntilMs(redis, prefix)))
  const ticks = await markLateTicks(db, { before, now, limit: AT_ONCE }, (late) =>
    appendEvents(
      redis,
      prefix,
      late.map((tick) => eventOf(tick, now)),
    ),
  )
  if (ticks.length === 0) return EACH_MS
  metrics.ticksLate.inc(ticks.length)
  const schedules = [...new Set(ticks.map((tick) => tick.schedule))].slice(0, NAMED)
  log.warn({ ticks: ticks.length, schedules }, 'ticks are late')
  return ticks.length < AT_ONCE ? EACH_MS : 0
}

function eventOf(tick: LateTick, now: Date) {
  return {
    type: 'tick.late' as const,
    at: now.toISOString(),
    data: {
      runId: tick.id,
      schedule: tick.schedule,
      scheduleId: tick.schedule_id,
      tickAt: tick.tick_at?.toISOString() ?? null,
      lateDueAt: tick.late_due_at.toISOString(),
      job: tick.job,
      queue: tick.queue,
      state: tick.state,
      labels: tick.labels,
    },
  }
}
