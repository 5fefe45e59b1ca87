import type { QueueEntries } from './bullmq-entries.ts'
import { takeOptions } from './bullmq-options.ts'
import { readRepeatable, type Repeatable } from './bullmq-repeatable.ts'
import { readRepeatableTime } from './bullmq-time.ts'
import type { Refusal, Remark } from './import-report.ts'
import type { JobMap } from './job-map.ts'
import { nameSlug, UniqueNames } from './unique-names.ts'
import { scheduleProblem, type TakenSchedule } from './taken-schedule.ts'

/** What BullMQ does, where a schedule would do otherwise by itself. */
export const BULLMQ_DEFAULTS = {
  // A run starts though the last one is still at work, and is not tried again.
  overlap: 'allow',
  attempts: 1,
  // A job may run for ever; a day is nearly that.
  timeoutMs: 86_400_000,
}

export interface TakenRepeatable extends TakenSchedule {
  key: string
  zoneAssumed: boolean
}

export interface TakeOverOptions {
  jobs: JobMap
  /** Of patterns without a zone. */
  timezone: string
  nowMs: number
}

const HOUR_MS = 3_600_000

/** What became of the repeatables of some queues. */
export class RepeatableTakeOver {
  readonly taken: TakenRepeatable[] = []
  readonly refused: Refusal[] = []
  readonly notes: Remark[] = []
  readonly #names = new UniqueNames()
  readonly #options: TakeOverOptions

  constructor(options: TakeOverOptions) {
    this.#options = options
  }

  addQueue({ entries, paused }: QueueEntries): void {
    for (const entry of entries) {
      const found = readRepeatable(entry)
      const why = typeof found === 'string' ? found : this.#takeOver(found, paused)
      if (why !== undefined) this.refused.push({ source: entry.key, text: entry.member, why })
    }
  }

  /** Gives why it can't be taken over. */
  #takeOver(from: Repeatable, paused: boolean): string | undefined {
    const { nowMs, timezone, jobs } = this.#options
    const { key, queue, id, endMs, limit } = from
    const time = readRepeatableTime(from, timezone)
    if (typeof time === 'string') return time
    if (endMs !== undefined && endMs <= nowMs) return `it ended at ${new Date(endMs).toISOString()}`
    const payload = readPayload(from)
    if (typeof payload === 'string') return payload
    const options = takeOptions(from.opts)
    const slug = [nameSlug(queue), nameSlug(id ?? from.name.replace(/^__default__$/, ''))]
    const name = this.#names.free(slug.filter(Boolean).join('.'), 'schedule')
    const fields = {
      job: jobs.jobOf(from),
      ...time.fields,
      ...options.fields,
      ...(paused || limit !== undefined ? { paused: true } : {}),
      payload: payload.payload,
    }
    const problem = scheduleProblem({ name, fields }, BULLMQ_DEFAULTS)
    if (problem !== undefined) return problem
    this.#names.take(name)
    this.taken.push({ name, fields, key, zoneAssumed: time.zoneAssumed, comment: key })
    for (const part of [...leftOut(from), ...options.refused])
      this.refused.push({ source: key, text: `${name}: ${part.text}`, why: part.why })
    const notes = [
      ...time.notes,
      ...payload.notes,
      ...options.notes,
      ...stateNotes(from, { paused, nowMs }),
    ]
    for (const note of notes) this.notes.push({ source: key, remark: `${name}: ${note}` })
    return undefined
  }
}

function readPayload({ data }: Repeatable): { payload: unknown; notes: string[] } | string {
  let value: unknown
  try {
    value = JSON.parse(data || '{}')
  } catch {
    return 'its data is no JSON'
  }
  if (value !== null && typeof value === 'object' && !Array.isArray(value))
    return { payload: value, notes: [] }
  if (value === null) return { payload: {}, notes: [] }
  return {
    payload: { data: value },
    notes: ['its data is no object: the payload has it as "data"'],
  }
}

/** What counts runs has no counterpart; such a schedule is written down, but paused. */
function leftOut({ data, limit, made, immediately }: Repeatable): { text: string; why: string }[] {
  return [
    limit !== undefined && {
      text: `limit ${limit}${made === undefined ? '' : `, of which ${made} were made`}`,
      why: 'Jadwal counts no runs: the schedule is written as paused; give it "endsAt" and unpause it',
    },
    immediately && {
      text: 'immediately',
      why: 'a schedule fires at its ticks only: trigger it by hand when it is applied',
    },
    data === undefined && {
      text: 'its data',
      why: 'they are kept in the job that waits for the next run, and there is none: write the payload by hand',
    },
  ].filter((part) => part !== false)
}

function stateNotes(
  { nextMs, queue }: Repeatable,
  { paused, nowMs }: { paused: boolean; nowMs: number },
): string[] {
  const overdue = `its next run was due at ${isoOf(nextMs)}: BullMQ fires it no more, or nobody works on queue ${queue}; Jadwal will fire it`
  return [
    paused && `the queue ${queue} is paused, so the schedule is too`,
    nowMs - nextMs > HOUR_MS && overdue,
  ].filter((note) => note !== false)
}

function isoOf(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString()
}
