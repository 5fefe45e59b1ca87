import {
  decideTicks,
  jitterMs,
  type Pause,
  revision,
  type RunFact,
  type Schedule,
  type ScheduleId,
  type ScheduleSpec,
  tickRunId,
  type Verdict,
} from '@jadwal/domain'
import { type LastTick, type PlannedRun, runMessageOptions, type TickPlan } from '@jadwal/queue'

export interface PlanContext {
  nowMs: number
  nowIso: string
  term: number
  queue: string
  /** The queue of a job; undefined when no worker ever served it. */
  queueOf: (job: string) => string | undefined
  /** The pauses that hold for every schedule. */
  pauses: readonly Pause[]
  /** At most so many runs; what is owed beyond comes the next time. */
  maxRuns: number
}

export interface SchedulePlan {
  /** Absent when nothing is owed to this queue. */
  plan?: TickPlan
  /** More is owed: look again. */
  more: boolean
  /** What is owed next goes to a job of another queue. */
  moveTo?: string
  /** What is owed next is for a job that no worker ever served. */
  unknownJob?: string
}

/**
 * Works out what a schedule owes after its last tick, each of its versions over its own time, and
 * makes messages and facts of it. Stops before a version whose job has another queue.
 */
export function planTicks(
  schedule: Schedule,
  last: LastTick | undefined,
  context: PlanContext,
): SchedulePlan {
  const plan: TickPlan = {
    scheduleId: schedule.id,
    lastMs: last?.ms ?? -Infinity,
    runs: [],
    skips: [],
    skipped: {},
  }
  let stopped: Omit<SchedulePlan, 'plan'> = { more: false }
  for (const version of schedule.versions) {
    const decision = decideTicks(version, plan.lastMs, {
      nowMs: context.nowMs,
      pauses: schedule.pauses ? [...context.pauses, ...schedule.pauses] : context.pauses,
    })
    if (decision.verdicts.length === 0) continue
    const queue = context.queueOf(version.spec.job)
    if (queue !== context.queue) {
      stopped =
        queue === undefined
          ? { more: false, unknownJob: version.spec.job }
          : { more: true, moveTo: queue }
      break
    }
    const done = carryOut(plan, decision.verdicts, { schedule, spec: version.spec, context })
    if (!done || decision.more) {
      stopped = { more: true }
      break
    }
  }
  return plan.runs.length + plan.skips.length > 0 ? { plan, ...stopped } : stopped
}

interface Subject {
  schedule: { id: ScheduleId; name: string }
  spec: ScheduleSpec
  context: PlanContext
}

/** Adds verdicts to the plan, oldest first. False when the plan was full before all were in. */
function carryOut(plan: TickPlan, verdicts: readonly Verdict[], subject: Subject): boolean {
  for (const verdict of verdicts) {
    if (verdict.verdict === 'fire') {
      if (plan.runs.length >= subject.context.maxRuns) return false
      plan.runs.push(plannedRun(verdict.tickAtMs, subject))
      plan.lastMs = verdict.tickAtMs
    } else {
      plan.skips.push(skipFact(verdict, subject))
      plan.skipped[verdict.reason] = (plan.skipped[verdict.reason] ?? 0) + verdict.count
      plan.lastMs = verdict.untilMs
    }
  }
  return true
}

function plannedRun(tickAtMs: number, { schedule, spec, context }: Subject): PlannedRun {
  const id = tickRunId(schedule.id, tickAtMs)
  const dueAtMs = tickAtMs + jitterMs(schedule.id, spec)
  const delayMs = Math.max(0, dueAtMs - context.nowMs)
  const tickAt = new Date(tickAtMs).toISOString()
  const lateAt =
    spec.lateAfter === undefined ? undefined : new Date(dueAtMs + spec.lateAfter).toISOString()
  const fact = {
    id,
    job: spec.job,
    queue: context.queue,
    schedule_id: schedule.id,
    schedule: schedule.name,
    tick_at: tickAt,
    term: context.term,
    late_due_at: lateAt ?? null,
    payload: spec.payload,
    labels: spec.labels ?? null,
    priority: spec.priority ?? 0,
    enqueued_at: context.nowIso,
    run_at: delayMs > 0 ? new Date(context.nowMs + delayMs).toISOString() : null,
    attempt: 0,
  } satisfies Partial<RunFact>
  return {
    id,
    job: spec.job,
    tickAtMs,
    dueAtMs,
    overlap: spec.overlap,
    message: {
      v: 1,
      payload: spec.payload,
      schedule: {
        id: schedule.id,
        name: schedule.name,
        tickAt,
        term: context.term,
        ...(lateAt === undefined ? {} : { lateAt }),
      },
      ...(spec.labels ? { labels: spec.labels } : {}),
      ...(spec.attempts === undefined ? {} : { attempts: spec.attempts }),
      ...(spec.timeoutMs === undefined ? {} : { timeoutMs: spec.timeoutMs }),
    },
    options: runMessageOptions({
      enqueuedAtMs: context.nowMs,
      delayMs,
      priority: spec.priority ?? 0,
    }),
    fact: JSON.stringify(fact).slice(1),
  }
}

function skipFact(
  verdict: Extract<Verdict, { verdict: 'skip' }>,
  { schedule, spec, context }: Subject,
): string {
  const range = verdict.count > 1
  const fact: RunFact = {
    kind: 'run',
    id: tickRunId(schedule.id, verdict.tickAtMs),
    revision: revision(0, 'skipped'),
    state: 'skipped',
    reason: verdict.reason,
    job: spec.job,
    queue: context.queue,
    schedule_id: schedule.id,
    schedule: schedule.name,
    tick_at: new Date(verdict.tickAtMs).toISOString(),
    tick_until: range ? new Date(verdict.untilMs).toISOString() : null,
    tick_count: range ? verdict.count : null,
    term: context.term,
    payload: spec.payload,
    result: null,
    labels: spec.labels ?? null,
    priority: spec.priority ?? 0,
    enqueued_at: context.nowIso,
    finished_at: context.nowIso,
    attempt: 0,
  }
  return JSON.stringify(fact)
}
