import { decideTicks, type JobDescription, type Schedule, type Verdict } from '@jadwal/domain'
import type { LastTick, TickPlan } from '@jadwal/queue'
import { NO_QUEUE, type PlanContext, type SkippedRow, type Subject } from './plan-context.ts'
import { plannedRun } from './planned-run.ts'
import { extended, skipFact } from './skipped-row.ts'

export interface SchedulePlan {
  /** Absent when nothing is owed to this queue. */
  plan?: TickPlan
  /** More is owed: look again. */
  more: boolean
  /** What is owed next goes to a job of another queue. */
  moveTo?: string
  /** What is owed next is for a job that no worker ever served. */
  unknownJob?: string
  /** It could not be planned: what is owed stays so. */
  unplanned?: true
  /** The row that the plan's last ticks go into, when they are skipped. */
  row?: SkippedRow | undefined
}

/**
 * Works out what a schedule owes after its last tick, each of its versions over its own time, and
 * makes messages and facts of it. Stops before a version whose job has another queue. Throws
 * `MissingKeyError` where a payload is to be encrypted and can't be.
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
  const rows = new SkippedRows(context.row?.untilMs === last?.ms ? context.row : undefined)
  const pauses = schedule.pauses?.length ? [...context.pauses, ...schedule.pauses] : context.pauses
  let stopped: Omit<SchedulePlan, 'plan' | 'row'> = { more: false }
  for (const version of schedule.versions) {
    const { untilMs = Infinity, spec } = version
    if (untilMs <= plan.lastMs) continue
    const decision = decideTicks(version, plan.lastMs, { nowMs: context.nowMs, pauses })
    if (decision.verdicts.length === 0) continue
    const queue = context.jobOf(spec.job)?.queue
    const hasEnded = untilMs <= context.nowMs
    const moveTo = queue ?? (hasEnded ? firstQueue(schedule, context) : undefined)
    if (queue === undefined && hasEnded && context.queue !== NO_QUEUE) {
      // Nobody is going to serve it for this version any more, and later ones must not wait for it.
      const verdicts = decision.verdicts.map(asUnknownJob)
      carryOut({ plan, rows }, verdicts, { schedule, spec, context })
      if (!decision.more) continue
      stopped = { more: true }
      break
    }
    if (queue !== context.queue) {
      stopped =
        moveTo === undefined ? { more: false, unknownJob: spec.job } : { more: true, moveTo }
      break
    }
    const subject = { schedule, spec, context }
    const done = carryOut({ plan, rows }, decision.verdicts, subject)
    if (!done || decision.more) {
      stopped = { more: true }
      break
    }
  }
  plan.skips = rows.facts
  if (plan.runs.length + plan.skips.length === 0) return stopped
  return { plan, row: rows.last, ...stopped }
}

/** The rows of a plan's skipped ticks: what follows on the row before, for the same reason, goes into it. */
class SkippedRows {
  readonly #facts = new Map<number, string>()
  last: SkippedRow | undefined

  constructor(last: SkippedRow | undefined) {
    this.last = last
  }

  get facts(): string[] {
    return [...this.#facts.values()]
  }

  add(verdict: Extract<Verdict, { verdict: 'skip' }>, subject: Subject): void {
    this.last = extended(this.last, verdict)
    this.#facts.set(this.last.tickAtMs, skipFact(this.last, subject))
  }

  /** A run comes between. */
  end(): void {
    this.last = undefined
  }
}

/** The first queue that any version of the schedule has. */
export function firstQueue(
  { versions }: Pick<Schedule, 'versions'>,
  { jobOf }: { jobOf: (job: string) => Pick<JobDescription, 'queue'> | undefined },
): string | undefined {
  for (const { spec } of versions) {
    const queue = jobOf(spec.job)?.queue
    if (queue !== undefined) return queue
  }
  return undefined
}

function asUnknownJob(verdict: Verdict): Verdict {
  if (verdict.verdict === 'skip') return verdict
  const { tickAtMs } = verdict
  return { verdict: 'skip', reason: 'unknown-job', tickAtMs, untilMs: tickAtMs, count: 1 }
}

/** Adds verdicts to the plan, oldest first. False when the plan was full before all were in. */
function carryOut(
  { plan, rows }: { plan: TickPlan; rows: SkippedRows },
  verdicts: readonly Verdict[],
  subject: Subject,
): boolean {
  for (const verdict of verdicts) {
    if (verdict.verdict === 'fire') {
      if (plan.runs.length >= subject.context.maxRuns) return false
      plan.runs.push(plannedRun(verdict.tickAtMs, subject))
      plan.lastMs = verdict.tickAtMs
      rows.end()
    } else {
      rows.add(verdict, subject)
      plan.skipped[verdict.reason] = (plan.skipped[verdict.reason] ?? 0) + verdict.count
      plan.lastMs = verdict.untilMs
    }
  }
  return true
}
