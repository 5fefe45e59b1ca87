import {
  delayProblem,
  isEnvelope,
  keptPayload,
  newRunId,
  type PayloadRules,
  type RunFact,
  type RunId,
  type RunMessage,
  revision,
} from '@jadwal/domain'
import type { JobsOptions } from 'bullmq'
import { payloadHash } from './canonical-json.ts'
import type { PayloadCipher } from './payload-cipher.ts'
import { payloadBytes } from './payload-limit.ts'
import { randomFromPool } from './random-pool.ts'
import { safeJson } from './run-fact.ts'
import { runMessageOptions } from './run-message.ts'
import { sentPayload } from './sent-payload.ts'

/** What may be said of a run beside its job and payload. */
export interface EnqueueOptions {
  /** 5 years at most. */
  delayMs?: number
  /** An instant, within 5 years; goes before `delayMs`. */
  runAt?: Date
  /** 0 (first, default) … 1000. */
  priority?: number
  /** Over the job's own. */
  attempts?: number
  /** Over the job's own. */
  timeoutMs?: number
  labels?: Record<string, string>
  /** The run whose handler enqueues. */
  parentId?: string
  /** Stands for one run of the job for 24 h, also when that has ended. */
  idempotencyKey?: string
  /** The run's id, made by the caller: enqueued again within a day it is the same run. */
  id?: string
  /** The end of the run is kept for whoever follows it. */
  follow?: boolean
}

/** A run of a job that is to be enqueued. */
export interface RunRequest {
  job: {
    name: string
    queue: string
    /** Nobody has published it: what it says of its payloads is not known. */
    isUnknown?: boolean
  } & PayloadRules
  payload: unknown
  options?: EnqueueOptions
}

/** A run that is about to be sent. */
export interface RunDraft {
  id: RunId
  job: string
  queue: string
  message: RunMessage
  rules: PayloadRules | undefined
  bull: JobsOptions
  delayMs: number
  priority: number
  nowMs: number
  /** Of its payload as it is sent. */
  bytes: number
  /** What must be looked up, and written with the message. */
  claim?: Claim
}

export interface Claim {
  /** The id is the client's. */
  byId: boolean
  key: string | undefined
  /** Of job and payload. */
  hash: string
  follow: boolean
}

export interface DraftRules {
  nowMs: number
  /** Of payloads as they are given. */
  maxPayloadBytes: number
  cipher?: PayloadCipher | undefined
}

/** Throws `PayloadTooLargeError`, `MissingKeyError`, or a `RangeError` when the run is due too late. `index` is the run's place among many. */
export function draftRun(request: RunRequest, rules: DraftRules, index?: number): RunDraft {
  const { nowMs, maxPayloadBytes, cipher } = rules
  const { job, payload, options = {} } = request
  const { attempts, timeoutMs, labels, priority = 0, runAt, parentId, idempotencyKey } = options
  const bytes = payloadBytes(payload, maxPayloadBytes, index)
  const delayMs = Math.max(0, runAt ? runAt.getTime() - nowMs : (options.delayMs ?? 0))
  const tooLate = delayProblem(delayMs)
  if (tooLate !== undefined) throw new RangeError(`delay (${delayMs} ms): ${tooLate}`)
  const id = (options.id?.toLowerCase() as RunId | undefined) ?? newRunId(nowMs, randomFromPool(10))
  const sent = sentPayload(payload, { id, job }, cipher)
  const message: RunMessage = {
    v: 1,
    ...sent,
    ...(labels ? { labels } : {}),
    ...(attempts === undefined ? {} : { attempts }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(parentId === undefined ? {} : { parentId }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
  const draft: RunDraft = {
    id,
    job: job.name,
    queue: job.queue,
    message,
    rules: job.isUnknown ? undefined : job,
    bull: runMessageOptions({ enqueuedAtMs: nowMs, delayMs, priority }),
    delayMs,
    priority,
    nowMs,
    bytes: isEnvelope(sent.payload) ? sent.payload.$encrypted.length : bytes,
  }
  if (options.id !== undefined || idempotencyKey !== undefined || options.follow === true)
    draft.claim = {
      byId: options.id !== undefined,
      key: idempotencyKey,
      hash: job.encrypt && cipher ? cipher.hash(job.name, payload) : payloadHash(job.name, payload),
      follow: options.follow === true,
    }
  return draft
}

/** A run that waits for its time has a row from the start: its fact. Undefined for one that is due. */
export function delayedFact(draft: RunDraft): string | undefined {
  const { id, job, queue, message, rules, priority, delayMs, nowMs } = draft
  if (delayMs === 0) return undefined
  const fact: RunFact = {
    kind: 'run',
    id,
    revision: revision(0, 'queued'),
    state: 'queued',
    job,
    queue,
    ...keptPayload(message, rules),
    result: null,
    labels: message.labels ?? null,
    priority,
    enqueued_at: new Date(nowMs).toISOString(),
    run_at: new Date(nowMs + delayMs).toISOString(),
    parent_id: message.parentId ?? null,
    idempotency_key: message.idempotencyKey ?? null,
    attempt: 0,
  }
  return safeJson(JSON.stringify(fact))
}
