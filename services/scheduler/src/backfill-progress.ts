import type { NamedBackfill } from '@jadwal/db'
import {
  backfillRunId,
  type PayloadRules,
  type ScheduleId,
  type ScheduleSpec,
} from '@jadwal/domain'
import {
  type FiringQueue,
  keys,
  type LastTick,
  type PayloadCipher,
  type PlannedRun,
  type Reign,
  scheduledRun,
  type TickPlan,
} from '@jadwal/queue'
import type { Redis } from 'ioredis'

/** Runs of the past give way to those of today: at least this priority (0 first … 1000 last). */
const LEAST_PRIORITY = 500

/** How far a backfill is. */
export interface Progress {
  /** All ticks up to here were dealt with. */
  positionMs: number
  /** Ticks that were dealt with, and runs that were made of them. */
  decided: number
  runs: number
}

export interface BackfillStep {
  /** What was read before the ticks were chosen. */
  before: Progress
  chosen: { runs: readonly number[]; decided: number; positionMs: number }
  spec: ScheduleSpec
  /** What its job says of its payloads. */
  rules: PayloadRules | undefined
  cipher: PayloadCipher | undefined
  reign: Reign
  nowMs: number
}

/** Where a schedule would have its uuid. */
type Fields = readonly [position: ScheduleId, decided: ScheduleId, runs: ScheduleId]

/** How far one backfill is: three entries of its queue's last-ticks hash, which change with its runs in one MULTI. */
export class BackfillProgress {
  readonly #redis: Redis
  readonly #key: string
  readonly #backfill: NamedBackfill
  readonly #fields: Fields

  constructor(redis: Redis, prefix: string, backfill: NamedBackfill) {
    this.#redis = redis
    this.#key = keys.lastTicksKey(prefix, backfill.queue)
    this.#backfill = backfill
    const { id } = backfill
    this.#fields = [id, `${id}:ticks`, `${id}:runs`] as unknown as Fields
  }

  /** From Redis; when it has lost it, from what Postgres was told. */
  async read(): Promise<Progress> {
    const [position, decided, runs] = await this.#redis.hmget(this.#key, ...this.#fields)
    const { from_at, position_at, skipped, enqueued } = this.#backfill
    return {
      positionMs: Number(position ?? position_at?.getTime() ?? from_at.getTime() - 1),
      decided: Number(decided ?? skipped + enqueued),
      runs: Number(runs ?? enqueued),
    }
  }

  /** Makes the runs of a step. Undefined when somebody else did in between. */
  async fire(queue: FiringQueue, step: BackfillStep): Promise<Progress | undefined> {
    const { before, chosen, reign, nowMs } = step
    const nowIso = new Date(nowMs).toISOString()
    const after: Progress = {
      positionMs: chosen.positionMs,
      decided: before.decided + chosen.decided,
      runs: before.runs + chosen.runs.length,
    }
    const [position, decided, runs] = this.#fields
    const lastMs = new Map([
      [position, after.positionMs],
      [decided, after.decided],
      [runs, after.runs],
    ])
    let isSame = true
    const plan = (field: ScheduleId, last: LastTick | undefined): TickPlan | undefined => {
      if (field === position) isSame = last === undefined || last.ms === before.positionMs
      if (!isSame) return undefined
      const planned = field === position ? chosen.runs.map((tick) => this.#planned(tick, step)) : []
      return {
        scheduleId: field,
        lastMs: lastMs.get(field) ?? 0,
        runs: planned,
        skips: [],
        skipped: {},
      }
    }
    const fired = await queue.fire({ reign, nowIso, scheduleIds: this.#fields, plan })
    return fired.status === 'fired' && isSame && fired.owed.size === 0 ? after : undefined
  }

  async forget(): Promise<void> {
    await this.#redis.hdel(this.#key, ...this.#fields)
  }

  #planned(tickAtMs: number, { spec, rules, cipher, reign, nowMs }: BackfillStep): PlannedRun {
    const { id: backfillId, schedule_id, schedule, queue, created_at } = this.#backfill
    const id = backfillRunId({ id: backfillId, createdAtMs: created_at.getTime() }, tickAtMs)
    const tickAt = new Date(tickAtMs).toISOString()
    const run = scheduledRun({
      id,
      queue,
      schedule: { id: schedule_id, name: schedule, tickAt, term: reign.term, backfillId },
      spec: { ...spec, priority: Math.max(spec.priority ?? 0, LEAST_PRIORITY) },
      payload: spec.payload,
      rules,
      cipher,
      enqueuedAtMs: nowMs,
    })
    return { ...run, id, job: spec.job, tickAtMs, dueAtMs: nowMs, overlap: 'allow' }
  }
}
