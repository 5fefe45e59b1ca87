import { randomBytes } from 'node:crypto'
import { type LogLine, newRunId, type RunError, type RunMessage, systemClock } from '@jadwal/domain'
import type { RunEnd } from '@jadwal/queue'
import { z } from 'zod'
import { Attempt, type AttemptRun } from './attempt.ts'
import { checkPayload } from './check-payload.ts'
import { InvalidRunError } from './check-run.ts'
import type { Sendable } from './enqueue-options.ts'
import { describeIssues } from './issues.ts'
import type { JobLog } from './job-context.ts'
import type { AnyJob, Job } from './job.ts'
import { judgeAttempt } from './judge-attempt.ts'
import { type EnqueuedChild, RecordedChildren } from './recorded-children.ts'

const LONGEST_TIMER_MS = 2 ** 31 - 1
/** Schedules have uuids; here it is nobody's. */
const NO_SCHEDULE = '00000000-0000-4000-8000-000000000000'

export interface RunJobOptions {
  /** Which attempt it is, counted from 1 (the default): all before it have failed. */
  attempt?: number
  /** How often the run is tried in all, instead of the job's own number. */
  attempts?: number
  /** The run's id; a new one when left out. */
  runId?: string
  /** The nominal instant of a scheduled run, and the schedule's name (the job's when left out). */
  tickAt?: Date
  schedule?: string
  parentId?: string
  /** What `{ secret: 'NAME' }` in the payload stands for, by name. */
  secrets?: Readonly<Record<string, string>>
  /** Instead of the job's own. A handler that does not heed its signal is left to itself 5 s later. */
  timeoutMs?: number
  /** Aborted, it cancels the run. */
  signal?: AbortSignal
  /** What the jitter of the next wait is drawn with, from 0 (the default: the longest wait) to less than 1. */
  random?: number
  /** The jobs that the handler may enqueue by name; when left out, any name will do. */
  jobs?: readonly AnyJob[]
}

/** What became of the attempt, in the words of the run history. */
export interface RunJobResult {
  /** Of the run, after this attempt. */
  state: 'succeeded' | 'retrying' | 'dead' | 'cancelled'
  /** Of one that is dead or cancelled: `failed`, `permanent`, `invalid-payload`, `cancelled`. */
  reason?: string
  /** What the handler returned, as JSON has it and within its bounds; undefined when it was nothing. */
  result: unknown
  error?: RunError
  /** Of a run that is retried: the wait before the next attempt. */
  delayMs?: number
  /** The lines that the history keeps. */
  logs: LogLine[]
  /** Every value that the handler told, in order. */
  progress: unknown[]
  enqueued: EnqueuedChild[]
}

const Options = z.strictObject({
  attempt: z.int().min(1).optional(),
  attempts: z.int().min(1).max(1_000).optional(),
  runId: z.uuid().optional(),
  tickAt: z.date().optional(),
  schedule: z.string().min(1).optional(),
  parentId: z.uuid().optional(),
  secrets: z.record(z.string(), z.string()).optional(),
  timeoutMs: z.int().min(1).optional(),
  signal: z.instanceof(AbortSignal).optional(),
  random: z.number().min(0).lt(1).optional(),
  jobs: z.array(z.custom<AnyJob>()).readonly().optional(),
})

/**
 * Makes one attempt of a job as a worker does, without Redis: the payload goes through JSON and the
 * job's schema, secrets are put in and masked, the handler has its context and its timeout, and its
 * end is judged by the worker's own rules. Also of an isolated job the handler is called right here.
 * Throws an `InvalidRunError` for a wrong option; whatever the handler does is in what is returned.
 */
export async function runJob<P extends z.ZodType>(
  job: Job<P>,
  payload: Sendable<z.input<P>>,
  options: RunJobOptions = {},
): Promise<RunJobResult> {
  const issues = Options.safeParse(options).error?.issues ?? []
  if (issues.length > 0)
    throw new InvalidRunError(`options of runJob: ${describeIssues(issues, options)}`)
  const run = new TestedRun(payload, job, options)
  const secrets = new Map(Object.entries(options.secrets ?? {}))
  const checked = await checkPayload(
    { payload: run.message.payload, payloadText: run.payloadText },
    job,
    secrets,
  )
  const children = new RecordedChildren(options.jobs)
  if ('refused' in checked) return resultOf(checked.refused, run, children)
  const attempt = new Attempt({
    run,
    job,
    mask: checked.mask,
    log: SILENT,
    clock: systemClock,
    children,
    startedMs: systemClock.monotonicMs(),
  })
  const end = await watched(attempt, checked.payload, options.signal)
  const judged = judgeAttempt({ run, job, mask: checked.mask }, end, options.random ?? 0)
  return resultOf(judged, run, children)
}

const nothing = (): void => {}
const SILENT_LINES: JobLog = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const SILENT = { child: () => SILENT_LINES }

/** Calls the handler, ends the attempt at its timeout, and cancels it when the signal says so. */
async function watched(
  attempt: Attempt<TestedRun>,
  payload: unknown,
  signal: AbortSignal | undefined,
) {
  let timer: NodeJS.Timeout | undefined
  const look = (): void => {
    clearTimeout(timer)
    const nowMs = systemClock.monotonicMs()
    const waitMs = attempt.check(nowMs) - nowMs
    timer = setTimeout(look, Math.min(Math.max(1, Math.ceil(waitMs)), LONGEST_TIMER_MS))
  }
  const cancel = (): void => {
    attempt.interrupt('cancelled', systemClock.monotonicMs())
    look()
  }
  const ended = attempt.call(payload)
  look()
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted) cancel()
  try {
    return await ended
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}

/** A run that no message carries. */
class TestedRun implements AttemptRun {
  readonly id: string
  readonly attempt: number
  readonly failures: number
  readonly payloadText: string
  readonly message: RunMessage
  readonly told: unknown[] = []
  log: string | undefined

  constructor(payload: unknown, job: AnyJob | Job, options: RunJobOptions) {
    const { attempt = 1, attempts, timeoutMs, tickAt, parentId } = options
    const schedule = options.schedule ?? (tickAt ? job.name : undefined)
    this.id = options.runId ?? newRunId(systemClock.now().getTime(), randomBytes(10))
    this.attempt = attempt
    this.failures = attempt - 1
    this.payloadText = JSON.stringify(payload) ?? 'null'
    this.message = {
      v: 1,
      payload: JSON.parse(this.payloadText) as unknown,
      ...(attempts === undefined ? {} : { attempts }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(parentId === undefined ? {} : { parentId }),
      ...(schedule === undefined
        ? {}
        : {
            schedule: {
              id: NO_SCHEDULE,
              name: schedule,
              ...(tickAt ? { tickAt: tickAt.toISOString() } : {}),
            },
          }),
    }
  }

  async progress(value: unknown): Promise<void> {
    this.told.push(JSON.parse(JSON.stringify(value) ?? 'null'))
  }
}

function resultOf(end: RunEnd, run: TestedRun, children: RecordedChildren): RunJobResult {
  const had = {
    logs: JSON.parse(run.log ?? '[]') as LogLine[],
    progress: run.told,
    enqueued: children.enqueued,
    result: undefined,
  }
  switch (end.kind) {
    case 'succeeded':
      return {
        ...had,
        state: 'succeeded',
        result: end.result === undefined ? undefined : (JSON.parse(end.result) as unknown),
      }
    case 'retry':
      return { ...had, state: 'retrying', error: end.error, delayMs: end.delayMs }
    case 'dead':
      return { ...had, state: 'dead', reason: end.reason, error: end.error }
    case 'cancelled':
      return {
        ...had,
        state: 'cancelled',
        reason: end.reason,
        ...(end.error ? { error: end.error } : {}),
      }
    case 'drained':
    case 'left-alone':
    case 'in-lot':
    case 'lost':
      throw new Error(`an attempt without a worker can't end as ${end.kind}`)
  }
}
