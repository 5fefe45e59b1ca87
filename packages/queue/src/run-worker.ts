import type { Clock, OnLost, PayloadRules, QueueRate, RunMessage } from '@jadwal/domain'
import { setTimeout as sleep } from 'node:timers/promises'
import { DelayedError, type Job as Message, WaitingError } from 'bullmq'
import type { Redis } from 'ioredis'
import { type CancelReason, readReason } from './cancel-run.ts'
import { bullKey, bullPrefix, cancelsKey } from './keys.ts'
import { leaveAlone, leaveAloneMs } from './leave-alone.ts'
import { SLOT_FIELD } from './lot-lua.ts'
import { MessageWorker } from './message-worker.ts'
import { OUTCOME_FIELD, readStoredOutcome, writeStoredOutcome } from './outcome-record.ts'
import { type Outcome, outcomeScript } from './outcome-script.ts'
import { OutcomeWriter } from './outcome-writer.ts'
import { lostTooOften, type RunEnd } from './run-end.ts'
import { runOutcome } from './run-outcome.ts'
import { lostAttemptLine } from './run-fact.ts'
import { RetrySignal, retryWaitMs } from './run-retry.ts'
import { StartedRun } from './run-start.ts'
import { takeUp } from './run-take-up.ts'
import { SUSPECT_AFTER, type SuspectSlot } from './suspect-slot.ts'
import { workOffWhenFull } from './when-full.ts'

/** How long a suspect waits, at least and at most, for another to end. */
const SUSPECT_WAIT_MS = [500, 1_500] as const
/** Suspects come back together: the others are left alone for certain before the first is called. */
const SETTLE_MS = 250

export interface RunWorkerOptions {
  /** For everything but waiting; shared by all queues of a process. `maxRetriesPerRequest` must be null. */
  redis: Redis
  prefix: string
  queue: string
  concurrency: number
  /** How many runs all workers of the queue together start in a time at most. */
  rate?: QueueRate | undefined
  /** A run whose worker was not heard of for this long is taken up by another. */
  lockMs: number
  clock: Clock
  /** The name of this worker in the history. */
  instance: string
  /** One for all workers of a process. */
  suspects: SuspectSlot
  /** What a job says of its payloads; undefined for one that is not known here. */
  payloadRules: (job: string) => PayloadRules | undefined
  /** Whether this process has heard that a run is to be cancelled; its mark says whether it still is. */
  heardOfCancel: (runId: string) => boolean
  /** Makes an attempt. Must not reject. */
  execute: (run: StartedRun) => Promise<RunEnd>
  /** An attempt is over; `counted` is false when its outcome was refused or could not be written. */
  onEnd: (run: StartedRun, end: RunEnd, counted: boolean) => void
  /** What becomes of a job's run that an attempt was lost of; asked only when one was. */
  lossPolicy: (job: string) => OnLost
  /** The locks of these runs are lost: other workers may have them by now. */
  onLost: (runIds: readonly string[]) => void
  /** So many locks were renewed in one go. */
  onRenewed: (count: number) => void
  /** A message has a form, or is of a job, that only workers of another version know; it waits for one. */
  onLeftAlone: (runId: string, unknown: 'form' | 'job') => void
  onError: (error: Error) => void
}

/**
 * Takes the runs of one queue. The way of an attempt: BullMQ hands over the message; if it was started
 * before, what is stored of its last outcome is looked at; `execute` makes the attempt; its outcome is
 * written under the message's lock; only then BullMQ is told. Succeeded and dead runs are both completed
 * messages to BullMQ, and it never fails one by itself. Whatever goes wrong on the way leaves the message
 * as it is: its lock expires and another worker takes it up.
 */
export class RunWorker {
  readonly #options: RunWorkerOptions
  readonly #worker: MessageWorker
  readonly #writer: OutcomeWriter
  #taken = 0

  constructor(options: RunWorkerOptions) {
    const { redis, prefix, queue, concurrency, rate, lockMs, onError } = options
    this.#options = options
    this.#writer = new OutcomeWriter({ write: outcomeScript(redis, prefix, queue), onError })
    // Two parameters: with a third BullMQ makes an AbortController for every message.
    this.#worker = new MessageWorker(queue, (message, token) => this.#count(message, token), {
      connection: redis,
      prefix: bullPrefix(prefix, queue),
      concurrency,
      lockDuration: lockMs,
      stalledInterval: Math.max(500, Math.floor(lockMs / 2)),
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      removeOnComplete: { count: 0 },
      runRetryDelay: 1_000,
      autorun: false,
      ...(rate ? { limiter: { max: rate.max, duration: rate.perMs } } : {}),
      settings: { backoffStrategy: retryWaitMs },
    })
    this.#worker.keepLocks()
    this.#worker.on('error', (error) => {
      if (!error.message.startsWith('could not renew lock')) onError(error)
    })
    this.#worker.on('lockRenewalFailed', (ids) => void this.#notRenewed(ids))
    this.#worker.on('locksRenewed', ({ count }) => options.onRenewed(count))
  }

  get queue(): string {
    return this.#options.queue
  }

  get concurrency(): number {
    return this.#options.concurrency
  }

  /** Runs that were taken and whose outcome is not written yet. */
  get inHand(): number {
    return this.#worker.inHand
  }

  /** How many times a run was taken since the start: it grows as long as the loop that fetches moves. */
  get taken(): number {
    return this.#taken
  }

  /** Begins to take runs. */
  start(): void {
    this.#run().catch((error: unknown) => this.#failed(error))
  }

  /** Takes no more runs for now; at most one that is being fetched still comes. */
  async pause(): Promise<void> {
    await this.#worker.pause(true)
  }

  async resume(): Promise<void> {
    await this.#worker.resume()
  }

  /** Takes no more runs; resolves when those in hand have ended and BullMQ knows. Waits while Redis is away. */
  async close(): Promise<void> {
    await this.#worker.close()
  }

  async #run(): Promise<void> {
    await this.#worker.waitUntilReady()
    workOffWhenFull(this.#options.redis)
    await this.#worker.run()
  }

  #count(message: Message<RunMessage>, token = ''): Promise<void> {
    this.#taken += 1
    return this.#worker.hold(message.id ?? '', token, this.#process(message, token))
  }

  async #process(message: Message<RunMessage>, token: string): Promise<void> {
    const { clock, queue, suspects, execute, payloadRules } = this.#options
    if (message.data?.v !== 1) {
      this.#options.onLeftAlone(message.id ?? '', 'form')
      return this.#leaveAlone(message, token)
    }
    const startedAtMs = clock.now().getTime()
    const rules = payloadRules(message.name)
    const run = new StartedRun(message, { queue, token, startedAtMs, rules })
    if (run.attempt === 1 && !this.#options.heardOfCancel(run.id))
      return this.#finish(message, run, await execute(run))
    const end = await this.#takeUp(run)
    if (end === 'finished') return
    if (end !== 'execute') return this.#finish(message, run, end)
    if (run.lostInARow < SUSPECT_AFTER) return this.#finish(message, run, await execute(run))
    if (!suspects.tryTake()) return this.#leaveForLater(message, run, suspectWaitMs())
    try {
      await sleep(SETTLE_MS)
      await this.#finish(message, run, await execute(run))
    } finally {
      suspects.release()
    }
  }

  async #notRenewed(ids: readonly string[]): Promise<void> {
    const { redis, prefix, queue, onLost } = this.#options
    const lockKeys = new Map(ids.map((id) => [id, `${bullKey(prefix, queue, id)}:lock`]))
    try {
      const lost = await this.#worker.lostOf(redis, lockKeys)
      if (lost.length > 0) onLost(lost)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Writes how an attempt ended, and tells BullMQ. */
  async #finish(message: Message<RunMessage>, run: StartedRun, end: RunEnd): Promise<void> {
    const { clock, instance, onEnd, onLeftAlone } = this.#options
    run.endedAtMs = clock.now().getTime()
    if (end.kind === 'left-alone') {
      onLeftAlone(run.id, 'job')
      run.leftAloneSinceMs ??= run.startedAtMs
      return this.#leaveForLater(message, run, end.delayMs)
    }
    if (end.kind === 'in-lot') throw new WaitingError()
    if (end.kind === 'lost') {
      onEnd(run, end, false)
      throw new WaitingError()
    }
    const counted = await this.#writer.write(runOutcome(run, end, instance))
    onEnd(run, end, counted)
    if (!counted) throw new WaitingError()
    if (end.kind === 'retry') throw new RetrySignal(end.error, end.delayMs)
    if (end.kind === 'drained') await this.#putBack(() => message.moveToWait(run.token))
  }

  /** What has become of earlier attempts; `execute` when another is to be made. */
  async #takeUp(run: StartedRun): Promise<RunEnd | 'finished' | 'execute'> {
    const { redis, prefix, queue, clock, lossPolicy } = this.#options
    let stored: string | null
    let slot: string | null
    let mark: string | null
    try {
      const message = bullKey(prefix, queue, run.id)
      ;[[stored = null, slot = null], mark] = await Promise.all([
        redis.hmget(message, OUTCOME_FIELD, SLOT_FIELD),
        redis.hget(cancelsKey(prefix, queue), run.id),
      ])
    } catch (error) {
      this.#failed(error)
      return { kind: 'lost' }
    }
    run.mayHaveSlot = slot !== null
    const outcome = readStoredOutcome(stored)
    if (outcome?.kind === 'left-alone') run.leftAloneSinceMs = outcome.sinceMs
    const next = takeUp(run, outcome, lossPolicy(run.job))
    if (mark !== null && next.kind !== 'finish') {
      if ('lost' in next) run.lostAttempts = next.lost
      return cancelledEnd(readReason(mark))
    }
    switch (next.kind) {
      case 'finish':
        return 'finished'
      case 'retry': {
        const { failures, runAtMs } = next
        const record = { kind: 'retry', attempt: run.attempt, failures, runAtMs } as const
        const { id, token } = run
        await this.#note({ id, token, stored: writeStoredOutcome(record), facts: '' })
        throw new RetrySignal(undefined, Math.max(0, runAtMs - clock.now().getTime()))
      }
      case 'dead':
      case 'run':
        run.lostAttempts = next.lost
        run.lostBefore = next.lostBefore
        return next.kind === 'run' ? 'execute' : lostTooOften(run.lostInARow)
    }
  }

  /** Whatever the message is, a worker that knows its form finds it as it was. */
  async #leaveAlone(message: Message<RunMessage>, token: string): Promise<never> {
    const { redis, clock } = this.#options
    const nowMs = clock.now().getTime()
    const untilMs = nowMs + leaveAloneMs(nowMs - message.timestamp - (message.opts.delay ?? 0))
    const { id = '' } = message
    return this.#putBack(() => leaveAlone(redis, this.#options, { id, token, untilMs }))
  }

  /**
   * Leaves a run alone that was looked at, for later or for another worker: its lost attempts are told
   * now, and stay counted. The start that ends so is none of its failures, and not lost either.
   */
  async #leaveForLater(
    message: Message<RunMessage>,
    run: StartedRun,
    delayMs: number,
  ): Promise<void> {
    const { id, token, attempt, lostInARow: lost, leftAloneSinceMs: sinceMs } = run
    const facts = run.lostAttempts.map((each) => lostAttemptLine(run, each)).join('\n')
    const stored = writeStoredOutcome({ kind: 'left-alone', attempt, lost, sinceMs })
    await this.#note({ id, token, stored, facts, freesSlot: true })
    const dueAtMs = this.#options.clock.now().getTime() + delayMs
    await this.#putBack(() => message.moveToDelayed(dueAtMs, token), new DelayedError())
  }

  /** Stores an outcome of which there is nothing, or little, to tell. */
  async #note(outcome: Outcome): Promise<void> {
    const counted = await this.#writer.write(outcome)
    if (!counted) throw new WaitingError()
  }

  /** Always throws: BullMQ takes the error for the word that the message is where it belongs. */
  async #putBack(move: () => Promise<unknown>, done: Error = new WaitingError()): Promise<never> {
    try {
      await move()
    } catch (error) {
      this.#failed(error)
    }
    throw done
  }

  #failed(error: unknown): void {
    this.#options.onError(error instanceof Error ? error : new Error(String(error)))
  }
}

function cancelledEnd(reason: CancelReason): RunEnd {
  return { kind: 'cancelled', reason }
}

function suspectWaitMs(): number {
  const [least, most] = SUSPECT_WAIT_MS
  return Math.round(least + Math.random() * (most - least))
}
