import { type Clock, QueueName, type RunId, ServedQueueName, systemClock } from '@jadwal/domain'
import type { Queue } from 'bullmq'
import { claimIds, hasOwnId } from './claim-ids.ts'
import { producerConnection } from './connections.ts'
import { openCorkedRedis } from './corked-redis.ts'
import { IdempotencyConflictError, InvalidRunError } from './errors.ts'
import { bullPrefix } from './keys.ts'
import { createMemoryGauge, PRODUCERS_STOP_AT } from './memory-watch.ts'
import { QueueOpener } from './open-queue.ts'
import { Patience } from './patience.ts'
import type { PayloadCipher } from './payload-cipher.ts'
import { MAX_PAYLOAD_BYTES } from './payload-limit.ts'
import { PublishedRules } from './published-rules.ts'
import { answering, tryLater } from './redis-trouble.ts'
import { registerQueues } from './registry.ts'
import { draftRun, type EnqueueOptions, type RunDraft, type RunRequest } from './run-draft.ts'
import { checkClaims, ClaimedOtherwise, sendClaimed } from './send-claimed.ts'
import { batches, sendPlain } from './send-drafts.ts'

/** What may be said of many runs of a job at once. */
export interface EnqueueManyOptions extends Omit<EnqueueOptions, 'id' | 'idempotencyKey'> {
  /** One for each payload. */
  ids?: readonly string[]
  /** One for each payload. */
  idempotencyKeys?: readonly string[]
}

/** A run that is in its queue, or was before. */
export interface Enqueued {
  id: RunId
  /** Its idempotency key, or its id, was there already; it may have ended since. */
  existing: boolean
}

export interface Producer {
  /**
   * Puts one run of a job into its queue. Pass an `id` of your own, or an idempotency key, to be able to
   * repeat a call that failed with `RedisUnavailableError`: it is the same run, also when that has
   * ended meanwhile.
   */
  enqueue(job: RunRequest['job'], payload: unknown, options?: EnqueueOptions): Promise<RunId>
  /**
   * Puts many runs of a job into its queue, in their order. Not atomic: on an error of Redis some may be in.
   * None is if an idempotency key or id belongs to a run with another payload.
   */
  enqueueMany(
    job: RunRequest['job'],
    payloads: readonly unknown[],
    options?: EnqueueManyOptions,
  ): Promise<RunId[]>
  /** Likewise for runs of any jobs, which keep their order within their queue. */
  send(requests: readonly RunRequest[]): Promise<Enqueued[]>
  /** Likewise for one run, as `enqueue`. */
  sendOne(request: RunRequest): Promise<Enqueued>
  close(): Promise<void>
}

export interface ProducerDeps {
  url: string
  prefix: string
  onError: (error: Error) => void
  clock?: Clock
  /**
   * Its runs are messages of alerts, whose queue is closed to all others. They are few, and enqueued however
   * full Redis is, as long as it takes them: people are to hear of it.
   */
  isForAlerts?: boolean
  /** The largest payload, in bytes as JSON; 512 KiB when left out. */
  maxPayloadBytes?: number | undefined
  /** Encrypts the payloads of jobs that ask for it; without it they are refused. */
  cipher?: PayloadCipher | undefined
  /** Jobs are sent as their definitions say, and as workers have published them since. */
  followsCatalogue?: boolean
}

/**
 * Opens what an app needs to enqueue runs: one connection, made at once, that fails when Redis says
 * nothing for about a second (see `Patience`). Errors: `RedisUnavailableError`, `TryLaterError` (Redis is
 * 70 % full), `PayloadTooLargeError`, `IdempotencyConflictError`, `InvalidRunError` (no JSON, or no queue for runs),
 * `MissingKeyError`.
 */
export function createProducer(deps: ProducerDeps): Producer {
  const { prefix, clock = systemClock, maxPayloadBytes = MAX_PAYLOAD_BYTES, cipher } = deps
  // The patience has its own eye on the time, one for all commands.
  const { commandTimeout: _, ...connection } = producerConnection(deps.url)
  const redis = openCorkedRedis(connection, deps.onError)
  // While there is no connection, each call under way waits for it with listeners of its own. Not 0: BullMQ counts up.
  redis.setMaxListeners(Infinity)
  const patience = new Patience(redis)
  const memoryUse = createMemoryGauge(redis, clock)
  const opener = new QueueOpener(redis, deps.onError)
  const published = deps.followsCatalogue ? new PublishedRules(redis, prefix, clock) : undefined
  const registered = new Set<string>()
  const queues = new Map<string, Queue>()

  async function openQueue(name: string): Promise<Queue> {
    const Name = deps.isForAlerts === true ? ServedQueueName : QueueName
    const problem = Name.safeParse(name).error?.issues[0]?.message
    if (problem !== undefined)
      throw new InvalidRunError(`queue (${JSON.stringify(name)}): ${problem}`)
    if (!registered.has(name)) await patience.for(registerQueues(redis, prefix, [name]))
    registered.add(name)
    const options = { prefix: bullPrefix(prefix, name), skipMetasUpdate: true }
    const queue = await patience.for(opener.open(name, options))
    queues.set(name, queue)
    return queue
  }

  /** What most calls need not wait for. */
  async function admitted(): Promise<void> {
    if (redis.status !== 'ready') await patience.ready()
    if (deps.isForAlerts === true) return
    if ((await patience.for(memoryUse())) >= PRODUCERS_STOP_AT) throw tryLater()
  }

  async function plainly(batch: readonly RunDraft[], name: string): Promise<void> {
    const queue = queues.get(name) ?? (await openQueue(name))
    await patience.for(sendPlain(queue, { redis, prefix }, batch))
  }

  /** After a wait that was given up, nothing more may be sent: the caller was told that it failed. */
  async function sendAll(drafts: readonly RunDraft[]): Promise<Map<RunDraft, RunId>> {
    const existing = new Map<RunDraft, RunId>()
    await admitted()
    if (drafts.some(hasOwnId)) await patience.for(claimIds(redis, prefix, drafts))
    const pieces = [...batches(drafts)]
    if (pieces.length > 1 && drafts.some(isClaimed))
      await patience.for(checkClaims(redis, prefix, drafts))
    for (const batch of pieces) {
      const name = batch[0]?.queue ?? ''
      if (batch.some(isClaimed)) {
        const queue = queues.get(name) ?? (await openQueue(name))
        const found = await patience.for(sendClaimed(queue, { redis, prefix }, batch))
        for (const [draft, id] of found) existing.set(draft, id)
      } else await plainly(batch, name)
    }
    return existing
  }

  async function deliver(drafts: readonly RunDraft[]): Promise<Map<RunDraft, RunId>> {
    return await answering(() => sendAll(drafts)).catch((error: unknown) => {
      throw error instanceof ClaimedOtherwise ? error.toConflict(drafts) : error
    })
  }

  /** `at`: the place of the run, when there are several. What is wrong is found before anything is asked. */
  async function drafted(
    requests: readonly RunRequest[],
    at: (position: number) => number | undefined,
  ): Promise<RunDraft[]> {
    const rules = { nowMs: clock.now().getTime(), maxPayloadBytes, cipher }
    const draft = (request: RunRequest, position: number): RunDraft =>
      draftRun(published?.applied(request) ?? request, rules, at(position))
    const drafts = requests.map(draft)
    if (!published?.isNew(requests)) return drafts
    await answering(async () => {
      await admitted()
      await patience.for(published.learn(requests))
    })
    return requests.map(draft)
  }

  async function send(requests: readonly RunRequest[]): Promise<Enqueued[]> {
    const drafts = await drafted(requests, (position) => position)
    const existing = await deliver(drafts)
    return drafts.map((draft) => {
      const first = existing.get(draft)
      return { id: first ?? draft.id, existing: first !== undefined }
    })
  }

  async function sendOne(request: RunRequest): Promise<Enqueued> {
    const [draft] = await drafted([request], () => undefined)
    if (!draft) throw new Error('one run in, none out')
    if (isClaimed(draft)) {
      const existing = await deliver([draft]).catch((error: unknown) => {
        throw error instanceof IdempotencyConflictError ? error.ofOne() : error
      })
      const first = existing.get(draft)
      return { id: first ?? draft.id, existing: first !== undefined }
    }
    await answering(async () => {
      await admitted()
      await plainly([draft], draft.queue)
    })
    return { id: draft.id, existing: false }
  }

  return {
    send,
    sendOne,
    async enqueueMany(job, payloads, { ids, idempotencyKeys, ...options } = {}) {
      const runs = await send(
        payloads.map((payload, at) => {
          const own = {
            ...options,
            ...oneOf('id', ids?.[at]),
            ...oneOf('idempotencyKey', idempotencyKeys?.[at]),
          }
          return { job, payload, options: own }
        }),
      )
      return runs.map(({ id }) => id)
    },
    async enqueue(job, payload, options = {}) {
      return (await sendOne({ job, payload, options })).id
    },
    async close() {
      await opener.close()
      redis.disconnect()
    },
  }
}

function isClaimed({ claim }: RunDraft): boolean {
  return claim !== undefined
}

function oneOf<K extends string, V>(name: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [name]: value } as Record<K, V>)
}
