import { appendEvents, type JadwalEvent, type RedisClock, type TickPlan } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import type { ScheduleBook } from './schedule-book.ts'
import type { SchedulerMetrics } from './scheduler-metrics.ts'

/** Events of one chunk's missed ticks; the last one says how many schedules there were besides. */
const MOST_MISSED = 50

export interface TickEventsDeps {
  book: ScheduleBook
  redis: Redis
  redisClock: RedisClock
  prefix: string
  metrics: SchedulerMetrics
  log: Logger
}

export interface DecidedTicks {
  plans: TickPlan[]
  /** Runs that an unfinished one stood in the way of. */
  overlapped: ReadonlySet<string>
  /** Runs that were not added. */
  owed: ReadonlySet<string>
}

/** Ticks have their verdicts, in Redis for good. */
export function ticksDecided(
  deps: TickEventsDeps,
  { plans, overlapped, owed }: DecidedTicks,
): void {
  const { metrics, redisClock, log } = deps
  const nowMs = redisClock.nowMs()
  for (const run of plans.flatMap((plan) => plan.runs)) {
    if (owed.has(run.id)) continue
    const verdict = overlapped.has(run.id) ? 'overlap' : 'fired'
    metrics.ticks.inc({ verdict })
    if (verdict === 'fired') metrics.lateness.observe(Math.max(0, nowMs - run.tickAtMs) / 1_000)
  }
  for (const plan of plans) {
    for (const [verdict, count] of Object.entries(plan.skipped))
      metrics.ticks.inc({ verdict }, count)
  }
  if (owed.size > 0) log.error({ ticks: owed.size }, 'ticks were not added, firing them again')
  tellMissed(deps, plans)
}

/** Raises events of ticks that it was too late for. The firing waits for none of them. */
function tellMissed(
  { book, redis, redisClock, prefix, log }: TickEventsDeps,
  plans: readonly TickPlan[],
): void {
  const missed = plans.filter(({ skipped }) => (skipped['misfire'] ?? 0) > 0)
  if (missed.length === 0) return
  const at = new Date(redisClock.nowMs()).toISOString()
  const events: JadwalEvent[] = missed.slice(0, MOST_MISSED).map(({ scheduleId, skipped }) => {
    const data = { schedule: book.get(scheduleId)?.name, scheduleId, count: skipped['misfire'] }
    return { type: 'tick.missed', at, data }
  })
  const last = events.at(-1)
  if (last && missed.length > events.length) last.data['more'] = missed.length - events.length
  appendEvents(redis, prefix, events).catch((error: unknown) => {
    log.warn({ err: error, schedules: missed.length }, 'events of missed ticks were not raised')
  })
}
