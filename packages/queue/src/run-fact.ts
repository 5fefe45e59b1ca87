import {
  type AttemptFact,
  type AttemptState,
  isEnded,
  revision,
  type RunError,
  type RunFact,
  type RunMessage,
  type RunReason,
  type RunState,
} from '@jadwal/domain'
import type { StartedRun } from './run-start.ts'

/** What a worker says of a run, beside what the run brings with it. */
export interface RunNews {
  state: RunState
  reason?: RunReason
  attemptState: AttemptState
  /** When the attempt ended, ms since the epoch; absent while it goes on. */
  endedAtMs?: number
  /** When a retrying run is due. */
  runAtMs?: number
  error?: RunError
  /** Of a dead run. */
  fingerprint?: string
  /** JSON of the lines that the handler logged. */
  log?: string | undefined
  /** JSON of the result. */
  result?: string | undefined
}

/** The fact of an attempt, as a line of JSON that Postgres takes. It is complete in itself. */
export function runFactLine(run: StartedRun, worker: string, news: RunNews): string {
  const { message, kept } = run
  const isOver = isEnded(news.state)
  const endedAt = news.endedAtMs === undefined ? undefined : instant(news.endedAtMs)
  const runAtMs = news.runAtMs ?? run.runAtMs
  const fact: Omit<RunFact, 'payload' | 'result' | 'log'> = {
    kind: 'run',
    id: run.id,
    revision: revision(run.attempt, news.state),
    state: news.state,
    reason: news.reason,
    job: run.job,
    queue: run.queue,
    ...scheduleFacts(message),
    labels: message.labels,
    priority: run.priority,
    enqueued_at: instant(run.enqueuedAtMs),
    run_at: runAtMs === undefined ? undefined : instant(runAtMs),
    attempt: run.attempt,
    worker,
    started_at: instant(run.startedAtMs),
    finished_at: isOver ? endedAt : undefined,
    error: news.error,
    redrive_of: message.redriveOf,
    parent_id: message.parentId,
    idempotency_key: message.idempotencyKey,
    concurrency_key: run.concurrencyKey,
    fingerprint: news.fingerprint,
    search: kept.search,
    attempt_state: news.attemptState,
    attempt_finished_at: endedAt,
  }
  const head = JSON.stringify(fact).slice(0, -1)
  const result = news.result === undefined ? '' : `,"result":${news.result}`
  const log = news.log === undefined ? '' : `,"log":${news.log}`
  // JSON may have a tab here and nowhere else: behind it is what those who follow the run know already.
  return safeJson(`${head}${log}${result},\t"payload":${kept.payloadText}}`)
}

/** A fact of a run without an attempt's outcome, as JSON that Postgres takes; its payload comes last there, too. */
export function factLine({ payload, ...rest }: Partial<RunFact> & { payload: unknown }): string {
  const head = JSON.stringify(rest).slice(0, -1)
  return safeJson(`${head},\t"payload":${JSON.stringify(payload ?? null)}}`)
}

/** What a fact says of the schedule that brought a run about. */
export function scheduleFacts({ schedule }: RunMessage): Partial<RunFact> {
  if (!schedule) return {}
  return {
    schedule_id: schedule.id,
    schedule: schedule.name,
    tick_at: schedule.tickAt,
    term: schedule.term,
    backfill_id: schedule.backfillId,
    late_due_at: schedule.lateAt,
  }
}

/** The fact of an earlier attempt that ended without a word. */
export function lostAttemptLine(run: StartedRun, attempt: number): string {
  const fact: AttemptFact = { kind: 'attempt', id: run.id, attempt, attempt_state: 'lost' }
  return JSON.stringify(fact)
}

const ESCAPES = /\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g

/**
 * Postgres refuses `\u0000` and half surrogate pairs, which JSON allows. JSON.stringify writes whole
 * pairs as they are, so each escaped one that is left is a half.
 */
export function safeJson(json: string): string {
  if (!json.includes('\\u')) return json
  return json.replace(ESCAPES, (escape) => (escape === '\\\\' ? escape : '\\ufffd'))
}

const MOST_INSTANTS = 1_000
const instants = new Map<number, string>()

/** ISO 8601; those written in a row are of the same few milliseconds. */
export function instant(atMs: number): string {
  let text = instants.get(atMs)
  if (text === undefined) {
    if (instants.size === MOST_INSTANTS) instants.clear()
    text = new Date(atMs).toISOString()
    instants.set(atMs, text)
  }
  return text
}
