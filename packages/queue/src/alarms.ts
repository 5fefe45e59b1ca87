import { createHash } from 'node:crypto'
import { nextTick, parseCadenceKey, TICKS_QUEUE } from '@jadwal/domain'
import { type ConnectionOptions, Worker } from 'bullmq'
import { openRedis, producerConnection, workerConnection } from './connections.ts'
import type { Redis } from 'ioredis'
import { bullKey, bullPrefix } from './keys.ts'
import { QueueOpener } from './open-queue.ts'
import { isRedisError } from './redis-errors.ts'

/**
 * The repeatable messages of the queue `ticks`: one BullMQ job scheduler per distinct cadence. A
 * message is an alarm and no more: it wakes the firing loop, which works out by itself what is due.
 * So it does not matter when one is lost, late, doubled or out of order, and no work is ever lost by
 * an upsert that removes a due message.
 */

/** An alarm that is overdue by more counts as gone: BullMQ makes the next one only when it starts. */
const OVERDUE_MS = 5_000
/** When a cadence has no next tick, or can't be read: an alarm that wakes nobody for long. */
const FAR_MS = 24 * 60 * 60 * 1_000
const REST_MS = 2_000
/** What Redis says while it takes no writes. */
const REFUSALS = new Set([
  'OOM',
  'MISCONF',
  'READONLY',
  'NOREPLICAS',
  'LOADING',
  'MASTERDOWN',
  'BUSY',
])

export interface AlarmsOptions {
  url: string
  prefix: string
  onError: (error: Error) => void
}

/** The id of a cadence's job scheduler. */
export function alarmId(cadenceKey: string): string {
  return `c-${createHash('sha256').update(cadenceKey).digest('hex').slice(0, 24)}`
}

/** BullMQ asks this for each next message. A throw would leave the message stuck, so it never does. */
function repeatStrategy(millis: number, options: { pattern?: string }): number {
  try {
    return nextTick(parseCadenceKey(options.pattern ?? ''), millis) ?? millis + FAR_MS
  } catch {
    return millis + FAR_MS
  }
}

export class Alarms {
  readonly #options: AlarmsOptions
  readonly #redis: Redis
  readonly #opener: QueueOpener
  #worker: Worker | undefined

  constructor(options: AlarmsOptions) {
    this.#options = options
    this.#redis = openRedis(producerConnection(options.url), options.onError)
    this.#opener = new QueueOpener(this.#redis, options.onError)
  }

  /** Calls `wake` at each alarm, until `stopListening`. */
  listen(wake: () => void): void {
    const { url, prefix, onError } = this.#options
    this.#worker = new Worker(
      TICKS_QUEUE,
      async () => {
        wake()
      },
      {
        connection: workerConnection(url) as ConnectionOptions,
        prefix: bullPrefix(prefix, TICKS_QUEUE),
        concurrency: 50,
        drainDelay: 1,
        lockDuration: 2_000,
        stalledInterval: 1_000,
        maxStalledCount: 1_000_000,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
        settings: { repeatStrategy },
      },
    )
    this.#worker.on('error', (error) => {
      onError(error)
      if (isRedisError(error, REFUSALS)) this.#rest()
    })
  }

  /** BullMQ asks a Redis that refuses to write again without a pause. Nothing is lost while it rests. */
  #rest(): void {
    const worker = this.#worker
    if (!worker || worker.isPaused()) return
    void worker.pause(true)
    setTimeout(() => void worker.resume(), REST_MS).unref()
  }

  /** Stops at once: a gentle close never returns while Redis is away, and nothing is lost by a hard one. */
  async stopListening(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.close(true).catch(this.#options.onError)
  }

  /**
   * Makes the job schedulers those of the given cadences. Each is compared first, and one whose next
   * message is absent or overdue counts as different. Resolves to what was changed.
   */
  async reconcile(
    cadenceKeys: Iterable<string>,
    nowMs: number,
  ): Promise<{ upserted: number; removed: number }> {
    const queue = await this.#opener.open(TICKS_QUEUE, {
      prefix: bullPrefix(this.#options.prefix, TICKS_QUEUE),
      settings: { repeatStrategy },
    })
    const wanted = new Map([...cadenceKeys].map((key) => [alarmId(key), key]))
    const { sound, others } = await this.#inspect(wanted, nowMs)
    const missing = [...wanted].filter(([id]) => !sound.has(id))
    for (const [id, pattern] of missing) {
      await queue.upsertJobScheduler(
        id,
        { pattern },
        { name: 'tick', opts: { removeOnComplete: true, removeOnFail: true } },
      )
    }
    for (const id of others) await queue.removeJobScheduler(id)
    return { upserted: missing.length, removed: others.length }
  }

  async close(): Promise<void> {
    await this.stopListening()
    await this.#opener.close()
    this.#redis.disconnect()
  }

  async #inspect(
    wanted: ReadonlyMap<string, string>,
    nowMs: number,
  ): Promise<{ sound: Set<string>; others: string[] }> {
    const repeat = bullKey(this.#options.prefix, TICKS_QUEUE, 'repeat')
    const entries = await this.#redis.zrange(repeat, 0, -1, 'WITHSCORES')
    const found = entries.flatMap((id, at) =>
      at % 2 === 0 ? [{ id, next: entries[at + 1] ?? '' }] : [],
    )
    const pipeline = this.#redis.pipeline()
    for (const { id, next } of found) {
      pipeline.hget(`${repeat}:${id}`, 'pattern').exists(`${repeat}:${id}:${next}`)
    }
    const replies = (await pipeline.exec()) ?? []
    const sound = found.filter(({ id, next }, at) => {
      const [pattern, exists] = [replies[at * 2]?.[1], replies[at * 2 + 1]?.[1]]
      return pattern === wanted.get(id) && exists === 1 && Number(next) > nowMs - OVERDUE_MS
    })
    return {
      sound: new Set(sound.map(({ id }) => id)),
      others: found.filter(({ id }) => !wanted.has(id)).map(({ id }) => id),
    }
  }
}
