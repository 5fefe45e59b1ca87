import {
  type Clock,
  newRunId,
  type RunFact,
  type RunId,
  type RunMessage,
  revision,
  systemClock,
} from '@jadwal/domain'
import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { producerConnection, redisReady } from './connections.ts'
import { openCorkedRedis } from './corked-redis.ts'
import { PayloadTooLargeError } from './errors.ts'
import { bullPrefix, outboxKey } from './keys.ts'
import { createMemoryGauge, PRODUCERS_STOP_AT } from './memory-watch.ts'
import { QueueOpener } from './open-queue.ts'
import { randomFromPool } from './random-pool.ts'
import { answering, tryLater } from './redis-trouble.ts'
import { registerQueues } from './registry.ts'
import { safeJson } from './run-fact.ts'
import { runMessageOptions } from './run-message.ts'

export const MAX_PAYLOAD_BYTES = 512 * 1024
/** Messages, and bytes of payload, in one pipeline. Larger ones keep Redis from answering anybody else. */
const BATCH = 500
const BATCH_BYTES = 4 * 1024 * 1024
/** How long a call waits for the first connection, or for one that is being made again. */
const READY_WITHIN_MS = 1_000

export interface EnqueueOptions {
  delayMs?: number
  /** An instant; goes before `delayMs`. */
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
}

export interface Producer {
  /**
   * Puts one run of a job into its queue. Pass an `id` of your own to be able to repeat a call that
   * failed with `RedisUnavailableError`: the id is taken once as long as its first message is there. If
   * that run has ended meanwhile it is executed again; the history keeps one row either way.
   */
  enqueue(
    job: { name: string; queue: string },
    payload: unknown,
    options?: EnqueueOptions & { id?: RunId },
  ): Promise<RunId>
  /** Puts many runs of a job into its queue, in their order. Not atomic: on an error some may be in. */
  enqueueMany(
    job: { name: string; queue: string },
    payloads: readonly unknown[],
    options?: EnqueueOptions,
  ): Promise<RunId[]>
  close(): Promise<void>
}

export interface ProducerDeps {
  url: string
  prefix: string
  onError: (error: Error) => void
  clock?: Clock
}

/**
 * Opens what an app needs to enqueue runs: one connection, made at once, that fails within seconds
 * when Redis is away instead of waiting. Errors: `RedisUnavailableError`, `TryLaterError` (Redis is
 * 70 % full), `PayloadTooLargeError`.
 */
export function createProducer(deps: ProducerDeps): Producer {
  const { prefix, clock = systemClock } = deps
  const redis = openCorkedRedis(producerConnection(deps.url), deps.onError)
  // While there is no connection, each call under way waits for it with listeners of its own.
  redis.setMaxListeners(0)
  const memoryUse = createMemoryGauge(redis, clock)
  const opener = new QueueOpener(redis, deps.onError)
  const registered = new Set<string>()

  async function queueOf(name: string): Promise<Queue> {
    if (!registered.has(name)) await registerQueues(redis, prefix, [name])
    registered.add(name)
    return await opener.open(name, { prefix: bullPrefix(prefix, name), skipMetasUpdate: true })
  }

  async function enqueueMany(
    job: { name: string; queue: string },
    payloads: readonly unknown[],
    options: EnqueueOptions & { id?: RunId } = {},
  ): Promise<RunId[]> {
    const nowMs = clock.now().getTime()
    const drafts = payloads.map((payload) => draft(payload, options, nowMs))
    return await answering(async () => {
      await redisReady(redis, READY_WITHIN_MS)
      if ((await memoryUse()) >= PRODUCERS_STOP_AT) throw tryLater()
      const queue = await queueOf(job.queue)
      for (const batch of batches(drafts)) {
        await add(queue, job.name, batch)
        await announceDelayed(redis, outboxKey(prefix, job.queue), { job, runs: batch })
      }
      return drafts.map(({ id }) => id)
    })
  }

  return {
    enqueueMany,
    async enqueue(job, payload, options) {
      const [id] = await enqueueMany(job, [payload], options)
      if (id === undefined) throw new Error('one payload in, no id out')
      return id
    },
    async close() {
      await opener.close()
      redis.disconnect()
    },
  }
}

/** The size of a payload as JSON. Throws `PayloadTooLargeError`. */
export function payloadBytes(payload: unknown): number {
  const bytes = Buffer.byteLength(JSON.stringify(payload ?? null))
  if (bytes > MAX_PAYLOAD_BYTES) throw new PayloadTooLargeError(bytes, MAX_PAYLOAD_BYTES)
  return bytes
}

type Draft = ReturnType<typeof draft>

function draft(payload: unknown, options: EnqueueOptions & { id?: RunId }, nowMs: number) {
  const { attempts, timeoutMs, labels, priority, runAt, parentId } = options
  const bytes = payloadBytes(payload)
  const delayMs = Math.max(0, runAt ? runAt.getTime() - nowMs : (options.delayMs ?? 0))
  const message: RunMessage = {
    v: 1,
    payload,
    ...(labels ? { labels } : {}),
    ...(attempts === undefined ? {} : { attempts }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(parentId === undefined ? {} : { parentId }),
  }
  const bull = runMessageOptions({ enqueuedAtMs: nowMs, delayMs, priority: priority ?? 0 })
  return {
    id: options.id ?? newRunId(nowMs, randomFromPool(10)),
    message,
    bull,
    delayMs,
    priority: priority ?? 0,
    nowMs,
    bytes,
  }
}

/** Cuts what is to be enqueued into pieces that Redis takes without others having to wait for it. */
function* batches(drafts: readonly Draft[]): Generator<Draft[]> {
  let batch: Draft[] = []
  let bytes = 0
  for (const each of drafts) {
    if (batch.length === BATCH || (batch.length > 0 && bytes + each.bytes > BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(each)
    bytes += each.bytes
  }
  if (batch.length > 0) yield batch
}

/** For a single message a pipeline costs four times as much as the command in it. */
async function add(queue: Queue, name: string, batch: readonly Draft[]): Promise<void> {
  const messages = batch.map(({ id, message, bull }) => ({
    name,
    data: message,
    opts: { ...bull, jobId: id },
  }))
  const [first, second] = messages
  if (second) await queue.addBulk(messages)
  else if (first) await queue.add(name, first.data, first.opts)
}

/**
 * A run that waits for its time has a row from the start. Its message comes first: a run without a
 * row is found when it runs, a row without a run would wait for ever.
 */
async function announceDelayed(
  redis: Redis,
  outbox: string,
  batch: { job: { name: string; queue: string }; runs: readonly Draft[] },
): Promise<void> {
  const { job, runs } = batch
  const delayed = runs.filter((run) => run.delayMs > 0)
  if (delayed.length === 0) return
  const lines = delayed.map(({ id, message, priority, delayMs, nowMs }) => {
    const fact: RunFact = {
      kind: 'run',
      id,
      revision: revision(0, 'queued'),
      state: 'queued',
      job: job.name,
      queue: job.queue,
      payload: message.payload,
      result: null,
      labels: message.labels ?? null,
      priority,
      enqueued_at: new Date(nowMs).toISOString(),
      run_at: new Date(nowMs + delayMs).toISOString(),
      parent_id: message.parentId ?? null,
      attempt: 0,
    }
    return safeJson(JSON.stringify(fact))
  })
  await redis.xadd(outbox, '*', 'facts', lines.join('\n'))
}
