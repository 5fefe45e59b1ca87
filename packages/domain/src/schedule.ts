import { z } from 'zod'
import { type Cadence, cronCadence } from './cadence.ts'
import { CalendarChoice, type Calendars } from './calendar.ts'
import { DAY, MINUTE, SECOND } from './clock.ts'
import { cronProblem } from './cron.ts'
import { shortestIntervalMs } from './cron-interval.ts'
import { Duration, formatDuration, upTo } from './duration.ts'
import type { ScheduleId } from './ids.ts'
import { JobName } from './names.ts'
import type { Pause } from './pause.ts'
import { Timezone } from './timezone.ts'

/** What becomes of a tick that comes while an earlier run of its schedule is unfinished. */
export const OverlapPolicy = z.enum([
  'skip', // it gets no run
  'allow', // it gets one
  'queue-latest', // its run waits for that one, and replaces another that waits
  'cancel-running', // the unfinished ones are cancelled, its run starts when they have ended
])
export type OverlapPolicy = z.infer<typeof OverlapPolicy>

export const MisfirePolicy = z.strictObject({
  policy: z.enum(['once', 'all', 'skip']).default('once'),
  /** A tick that could not be fired this long after its instant is a misfire. */
  after: upTo(366 * DAY).default(MINUTE),
  /** Of the misfires that `all` fires, at most this many, the newest. */
  limit: z.int().min(1).max(1_000).default(100),
  /** Misfires older than this are skipped, whatever the policy. */
  within: upTo(366 * DAY).optional(),
})
export type MisfirePolicy = z.infer<typeof MisfirePolicy>

const INSTANT_RULE =
  'must be an instant in ISO 8601 with its offset, for example 2026-01-01T00:00:00Z'
const Instant = z.union(
  [
    z.iso.datetime({ offset: true, error: INSTANT_RULE }),
    z.date().transform((date) => date.toISOString()),
  ],
  { error: INSTANT_RULE },
)

const CronExpression = z.string().check((ctx) => {
  const problem = cronProblem(ctx.value)
  if (problem) ctx.issues.push({ code: 'custom', message: problem, input: ctx.value })
})

/** Thousands of schedules may fire in one transaction: what they carry is kept small. */
const MAX_PAYLOAD_BYTES = 64 * 1024
/** Deeper ones are more than some that read them have stack for. */
const MAX_PAYLOAD_DEPTH = 200

const SchedulePayload = z.record(z.string(), z.unknown()).check((ctx) => {
  const json = asJson(ctx.value)
  const bytes = new TextEncoder().encode(json).length
  const fail = (message: string) => ctx.issues.push({ code: 'custom', message, input: ctx.value })
  if (json === '') {
    fail('must be what JSON can hold, without a part that contains itself')
    return
  }
  // JSON.stringify escapes halves of surrogate pairs and nothing else of their range.
  if (/(^|[^\\])(\\\\)*\\ud[89a-f]/.test(json)) fail('must not contain half a surrogate pair')
  if (bytes > MAX_PAYLOAD_BYTES)
    fail(`has ${bytes} bytes as JSON, at most ${MAX_PAYLOAD_BYTES} are allowed`)
  else if (isDeeperThan(ctx.value, MAX_PAYLOAD_DEPTH))
    fail(`must not be nested deeper than ${MAX_PAYLOAD_DEPTH} levels`)
  // Postgres can't store it, and an escaped backslash before it makes it plain text.
  if (/(^|[^\\])(\\\\)*\\u0000/.test(json)) fail('must not contain the character U+0000')
})

/**
 * The rule of a schedule as the schedule file and the api write it. Parsing fills the defaults and
 * turns durations into milliseconds.
 */
export const ScheduleSpec = z
  .strictObject({
    description: z.string().max(1_000).optional(),
    job: JobName,
    cron: CronExpression.optional(),
    every: Duration.optional(),
    offset: Duration.optional(),
    timezone: Timezone.default('UTC'),
    payload: SchedulePayload.default({}),
    overlap: OverlapPolicy.default('skip'),
    misfire: MisfirePolicy.prefault({}),
    dst: z
      .strictObject({
        gap: z.enum(['shift', 'skip']).default('shift'),
        fold: z.enum(['once', 'twice']).default('once'),
      })
      .prefault({}),
    /** Each run waits a fixed part of this, the same for every tick of the schedule. */
    jitter: Duration.optional(),
    startsAt: Instant.nullish(),
    endsAt: Instant.nullish(),
    /** Ticks on days of `skip`, or not on days of `only`, get no run. */
    calendars: CalendarChoice,
    paused: z.boolean().default(false),
    mode: z.enum(['live', 'shadow']).default('live'),
    lateAfter: upTo(366 * DAY).optional(),
    labels: z.record(z.string().max(100), z.string().max(200)).optional(),
    alert: z.string().max(200).optional(),
    attempts: z.int().min(1).max(1_000).optional(),
    timeoutMs: z
      .int()
      .min(1)
      .max(7 * DAY)
      .optional(),
    priority: z.int().min(0).max(1_000).optional(),
  })
  .check((ctx) => {
    const { cron, every, offset, jitter, startsAt, endsAt } = ctx.value
    const fail = (path: keyof typeof ctx.value, message: string) =>
      ctx.issues.push({ code: 'custom', path: [path], message, input: ctx.value[path] })
    if ((cron === undefined) === (every === undefined)) {
      fail('cron', 'write exactly one of cron and every')
      return
    }
    if (cron !== undefined && offset !== undefined) fail('offset', 'goes with every, not with cron')
    if (every !== undefined) {
      if (every < SECOND) fail('every', 'must be at least 1s')
      if (every > 366 * DAY) fail('every', 'must be at most 366d')
      if (offset !== undefined && offset >= every) fail('offset', 'must be shorter than every')
    }
    const interval = every ?? shortestIntervalMs(cron ?? '')
    if (jitter !== undefined && jitter >= interval)
      fail('jitter', `must be shorter than the shortest interval, ${formatDuration(interval)}`)
    if (startsAt && endsAt && Date.parse(endsAt) <= Date.parse(startsAt))
      fail('endsAt', 'must be later than startsAt')
  })
function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return levels === 0 || Object.values(value).some((each) => isDeeperThan(each, levels - 1))
}

/** Empty when JSON can't hold it. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return ''
  }
}

/** Of a schedule, what the file says, parsed. */
export type ScheduleSpec = z.output<typeof ScheduleSpec>
/** Of a schedule, what the file says, as written. */
export type ScheduleSpecInput = z.input<typeof ScheduleSpec>

const cadences = new WeakMap<ScheduleSpec, Cadence>()

/** The cadence of a spec; the same object each time, since the leader asks for it at every tick. */
export function scheduleCadence(spec: ScheduleSpec): Cadence {
  const known = cadences.get(spec)
  if (known) return known
  const cadence = readCadence(spec)
  cadences.set(spec, cadence)
  return cadence
}

function readCadence(spec: ScheduleSpec): Cadence {
  if (spec.every !== undefined)
    return { kind: 'every', everyMs: spec.every, offsetMs: spec.offset ?? 0 }
  return cronCadence(spec.cron ?? '', { timezone: spec.timezone, ...spec.dst })
}

/** One version of a schedule and the time it rules: ticks in (fromMs, untilMs]. Specs are never changed in place. */
export interface ScheduleVersion {
  version: number
  spec: ScheduleSpec
  fromMs: number
  /** Absent on the version in force. */
  untilMs?: number
  /** The calendars that the spec names, as they were at its time. */
  calendars?: Calendars
}

/** A schedule with every version that may still owe a tick, oldest first. Deleted: the last one has an end. */
export interface Schedule {
  id: ScheduleId
  name: string
  versions: readonly ScheduleVersion[]
  /** Those of this schedule alone, oldest first. */
  pauses?: readonly Pause[]
}
