import type { LogLine } from '@jadwal/domain'
import type { SentError, SentThrown } from './sent-error.ts'

/**
 * What a worker and its child say to each other, over the port of a thread or the channel of a process.
 * Each message goes in an envelope, as a user's module may use the same port or channel for its own.
 * `serial` numbers the attempts of one child: a word about another one comes too late and is ignored.
 */

/** An attempt as its child is told of it. */
export interface AttemptOfChild {
  job: string
  payload: unknown
  runId: string
  attempt: number
  tickAt?: Date
  schedule?: string
  parentId?: string
}

export type ToChild =
  | { type: 'make'; serial: number; attempt: AttemptOfChild }
  | { type: 'abort'; serial: number; reason: SentError }
  | { type: 'answer'; call: number; value?: unknown; error?: SentThrown }

export type FromChild =
  /** It has loaded its jobs and takes attempts. */
  | { type: 'ready' }
  /** It could not load them, and ends. */
  | { type: 'failed'; error: SentThrown }
  /** An error that no handler caught; it ends with it. */
  | { type: 'crashed'; error: SentThrown }
  | LogOfChild
  | CallOfChild
  /** `result` is JSON; left out when the handler returned nothing. */
  | { type: 'returned'; serial: number; result?: string }
  | { type: 'threw'; serial: number; error: SentThrown }

export interface LogOfChild {
  type: 'log'
  serial: number
  level: LogLine['level']
  message?: string
  /** As JSON, without the errors among them. */
  facts?: string
  errors?: Readonly<Record<string, SentError>>
}

/** What the handler asks of its context; it is answered. */
export interface CallOfChild {
  type: 'call'
  serial: number
  call: number
  method: CallMethod
  args: unknown[]
}
export type CallMethod = 'progress' | 'enqueueMany'

export interface Envelope<T> {
  jadwal: T
}

export function isEnvelope<T>(value: unknown): value is Envelope<T> {
  return value !== null && typeof value === 'object' && 'jadwal' in value
}
