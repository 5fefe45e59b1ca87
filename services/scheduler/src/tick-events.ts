import type { RedisClock, TickPlan } from '@jadwal/queue'
import type { Logger } from '@jadwal/runtime'
import type { SchedulerMetrics } from './scheduler-metrics.ts'

export interface DecidedTicks {
  plans: TickPlan[]
  /** Runs that an unfinished one stood in the way of. */
  overlapped: ReadonlySet<string>
  /** Runs that were not added. */
  owed: ReadonlySet<string>
}

/** Ticks have their verdicts, in Redis for good. */
export function ticksDecided(
  { metrics, redisClock, log }: { metrics: SchedulerMetrics; redisClock: RedisClock; log: Logger },
  { plans, overlapped, owed }: DecidedTicks,
): void {
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
}
