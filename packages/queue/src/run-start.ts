import {
  type Envelope,
  isPlain,
  keptPayload,
  type PayloadRules,
  type RunMessage,
} from '@jadwal/domain'
import type { Job } from 'bullmq'

/** An attempt at a run as a worker got it from its queue. */
export class StartedRun {
  readonly queue: string
  /** The holder's mark in the message's lock: the outcome counts only while it is there. */
  readonly token: string
  /** The payload as JSON, taken before a handler can change it. */
  readonly payloadText: string
  readonly startedAtMs: number
  /** When the attempt ended; 0 while it goes on. */
  endedAtMs = 0
  /** Numbers of earlier attempts that ended without a word. */
  lostAttempts: readonly number[] = []
  /** How many were lost before those, of which was told when the run was left alone. */
  lostBefore = 0
  /** Since when (ms) it waits for a worker that knows its job; undefined when none has left it alone yet. */
  leftAloneSinceMs: number | undefined
  /** JSON of the lines that the handler logged; undefined when it logged none. */
  log: string | undefined
  /** What its job counts it under, where it limits how many of a kind run at once. */
  concurrencyKey: string | undefined
  /** Whether it may have a slot of such a key, which its end or wait then frees. */
  mayHaveSlot = false
  /** What its job says of its payload; undefined as long as that is not known. */
  rules: PayloadRules | undefined
  /** Of a run whose payload is encrypted: encrypts what it leaves behind, which is JSON. */
  seal: ((what: 'result' | 'progress', text: string) => Envelope) | undefined
  readonly #message: Job<RunMessage>

  constructor(
    message: Job<RunMessage>,
    at: {
      queue: string
      token: string
      startedAtMs: number
      rules: PayloadRules | undefined
    },
  ) {
    this.#message = message
    this.rules = at.rules
    this.queue = at.queue
    this.token = at.token
    this.startedAtMs = at.startedAtMs
    this.payloadText = JSON.stringify(message.data.payload) ?? 'null'
  }

  get id(): string {
    return this.#message.id ?? ''
  }

  get job(): string {
    return this.#message.name
  }

  get message(): RunMessage {
    return this.#message.data
  }

  /** What the history has of the payload, as JSON, and what it finds. Of most jobs it is all, as it came. */
  get kept(): { payloadText: string; search: string | undefined } {
    const { message, payloadText, rules } = this
    const { search } = message
    if (rules && isPlain(rules)) return { payloadText, search }
    const payload = JSON.parse(payloadText) as unknown
    const kept = keptPayload({ payload, ...(search === undefined ? {} : { search }) }, rules)
    return { payloadText: JSON.stringify(kept.payload), search: kept.search }
  }

  /** Among whose unfinished runs it is: the uuid of its schedule or backfill. */
  get owner(): string | undefined {
    const { schedule } = this.message
    return schedule?.backfillId ?? schedule?.id
  }

  /** Counted from 1; every start of the message is one. */
  get attempt(): number {
    return this.#message.attemptsStarted
  }

  /** How many attempts failed before this one. */
  get failures(): number {
    return this.#message.attemptsMade
  }

  /** How many attempts in a row before this one ended without a word; any makes the run a suspect. */
  get lostInARow(): number {
    return this.lostBefore + this.lostAttempts.length
  }

  get enqueuedAtMs(): number {
    return this.#message.timestamp
  }

  get priority(): number {
    return this.#message.priority
  }

  get dueAtMs(): number {
    return this.#message.timestamp + (this.#message.opts.delay ?? 0)
  }

  /** When a delayed run was due; undefined for one that was due at once. */
  get runAtMs(): number | undefined {
    return this.#message.opts.delay ? this.dueAtMs : undefined
  }

  async progress(value: unknown): Promise<void> {
    const sealed = this.seal?.('progress', JSON.stringify(value ?? null))
    await this.#message.updateProgress(sealed ?? (value as object))
  }
}
