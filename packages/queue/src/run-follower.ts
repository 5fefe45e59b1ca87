import { setTimeout as delay } from 'node:timers/promises'
import { Fact, isEnded, type RunFact } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { openRedis, producerConnection, workerConnection } from './connections.ts'
import { openCorkedRedis } from './corked-redis.ts'
import { deferred } from './deferred.ts'
import { findRunInRedis, type FoundRun } from './find-run.ts'
import { lookAtRuns } from './follow-script.ts'
import { endedChannel, endedKey } from './keys.ts'
import { Patience } from './patience.ts'
import { answering } from './redis-trouble.ts'
import { listQueues } from './registry.ts'

/** What was published may have been missed: followed runs are looked at this often. */
const LOOK_EACH_MS = 5_000

export interface RunFollowerDeps {
  url: string
  prefix: string
  onError: (error: Error) => void
}

/** What Redis says of a followed run. */
export type RunLook =
  | { state: 'ended'; fact: RunFact }
  | { state: 'unfinished' }
  /** It has ended and is on its way to the history or there; or it never was. */
  | { state: 'gone' }

/** A run that somebody follows, from `follow` to `leave`. */
export interface FollowedRun {
  readonly id: string
  /** Once it was seen there. */
  queue?: string
  /** Something may have happened since the last look. */
  isStale: boolean
  wake: (() => void) | undefined
}

/**
 * Follows runs to their end. Whoever follows registers the run with Redis and listens to its queue's
 * channel; the script that writes a run's end keeps its last fact for those who registered, and
 * publishes its id. As a message may be missed, each run is looked at again after a connection was
 * made, and every few seconds. Nothing is opened before the first run is followed or found.
 */
export class RunFollower {
  readonly #deps: RunFollowerDeps
  readonly #followed = new Map<string, Set<FollowedRun>>()
  readonly #channels = new Set<string>()
  #open: { redis: Redis; patience: Patience; subscriber: Redis } | undefined
  #looks: { run: FollowedRun; settle: (look: RunLook) => void; fail: (error: unknown) => void }[] =
    []
  #isPulsing = false
  #isClosed = false

  constructor(deps: RunFollowerDeps) {
    this.#deps = deps
  }

  follow(id: string): FollowedRun {
    const run: FollowedRun = { id, isStale: false, wake: undefined }
    const others = this.#followed.get(id)
    if (others) others.add(run)
    else this.#followed.set(id, new Set([run]))
    if (!this.#isPulsing) void this.#pulse()
    return run
  }

  leave(run: FollowedRun): void {
    const others = this.#followed.get(run.id)
    others?.delete(run)
    if (others?.size === 0) this.#followed.delete(run.id)
  }

  /** Asks Redis; what is asked in one turn of the event loop goes together. Throws `RedisUnavailableError`. */
  look(run: FollowedRun): Promise<RunLook> {
    run.isStale = false
    return new Promise((settle, fail) => {
      this.#looks.push({ run, settle, fail })
      if (this.#looks.length === 1) setImmediate(() => void this.#lookAtAll())
    })
  }

  /** Resolves when it is worth looking at the run again, or the signal aborts. */
  async changed(run: FollowedRun, signal: AbortSignal): Promise<void> {
    if (run.isStale || signal.aborted) return
    const { promise, resolve } = deferred()
    run.wake = resolve
    signal.addEventListener('abort', resolve)
    await promise
    signal.removeEventListener('abort', resolve)
    run.wake = undefined
  }

  /** What Redis knows of a run, in whatever queue it is. Throws `RedisUnavailableError`. */
  async find(id: string): Promise<FoundRun | undefined> {
    const { redis, patience } = this.#connect()
    return await answering(async () => {
      await patience.ready()
      const queues = await patience.for(listQueues(redis, this.#deps.prefix))
      const fact = await patience.for(findRunInRedis(redis, this.#deps.prefix, { queues, id }))
      if (fact || queues.length === 0) return fact
      // Each queue's key lies in a slot of its own.
      const asked = queues.map((queue) => redis.get(endedKey(this.#deps.prefix, queue, id)))
      const told = await patience.for(Promise.all(asked))
      return told.flatMap((text) => readFact(text) ?? []).at(0)
    })
  }

  /** Whoever waits is woken; their looks fail. */
  close(): void {
    this.#isClosed = true
    this.#open?.redis.disconnect()
    this.#open?.subscriber.disconnect()
    this.#wake(this.#all())
  }

  async #lookAtAll(): Promise<void> {
    const looks = this.#looks
    this.#looks = []
    const found = new Map<FollowedRun, RunLook>()
    try {
      await answering(() =>
        this.#ask(
          looks.map(({ run }) => run),
          found,
        ),
      )
      for (const { run, settle } of looks) settle(found.get(run) ?? { state: 'gone' })
    } catch (error) {
      for (const { fail } of looks) fail(error)
    }
  }

  async #ask(runs: readonly FollowedRun[], found: Map<FollowedRun, RunLook>): Promise<void> {
    const { redis, patience } = this.#connect()
    const { prefix } = this.#deps
    await patience.ready()
    const isKnown = runs.every((run) => run.queue !== undefined)
    const queues = isKnown ? [] : await patience.for(listQueues(redis, prefix))
    const asked = new Map<string, FollowedRun[]>()
    for (const run of runs) {
      for (const queue of run.queue === undefined ? queues : [run.queue])
        asked.set(queue, [...(asked.get(queue) ?? []), run])
    }
    for (const [queue, some] of asked) {
      const ids = some.map(({ id }) => id)
      const seen = await patience.for(lookAtRuns(redis, { prefix, queue }, ids))
      for (const [at, run] of some.entries()) {
        const look = readLook(seen[at])
        if (look.state === 'gone') continue
        run.queue = queue
        found.set(run, look)
        if (look.state === 'unfinished') this.#listen(queue)
      }
    }
  }

  /** What ended before the channel was open is seen by looking once more. */
  #listen(queue: string): void {
    const channel = endedChannel(this.#deps.prefix, queue)
    if (this.#channels.has(channel)) return
    this.#channels.add(channel)
    const { subscriber } = this.#connect()
    if (subscriber.status === 'ready') this.#subscribe(subscriber, [channel])
  }

  #subscribe(subscriber: Redis, channels: readonly string[]): void {
    subscriber
      .subscribe(...channels)
      .then(() => this.#wake(this.#all()))
      .catch(this.#deps.onError)
  }

  #connect() {
    if (this.#isClosed) throw new Error('the client is closed')
    if (this.#open) return this.#open
    const { url, onError } = this.#deps
    const { commandTimeout: _, ...connection } = producerConnection(url)
    const redis = openCorkedRedis(connection, onError)
    redis.setMaxListeners(Infinity)
    const subscriber = openRedis({ ...workerConnection(url), autoResubscribe: false }, onError)
    subscriber.on('ready', () => {
      if (this.#channels.size > 0) this.#subscribe(subscriber, [...this.#channels])
    })
    subscriber.on('message', (_channel: string, id: string) =>
      this.#wake(this.#followed.get(id) ?? []),
    )
    this.#open = { redis, patience: new Patience(redis), subscriber }
    return this.#open
  }

  *#all(): Generator<FollowedRun> {
    for (const runs of this.#followed.values()) yield* runs
  }

  #wake(runs: Iterable<FollowedRun>): void {
    for (const run of runs) {
      run.isStale = true
      run.wake?.()
    }
  }

  async #pulse(): Promise<void> {
    this.#isPulsing = true
    while (this.#followed.size > 0 && !this.#isClosed) {
      await delay(LOOK_EACH_MS, undefined, { ref: false })
      this.#wake(this.#all())
    }
    this.#isPulsing = false
  }
}

function readLook(seen: string | 0 | 1 | undefined): RunLook {
  if (seen === 1) return { state: 'unfinished' }
  const fact = typeof seen === 'string' ? readFact(seen) : undefined
  return fact && isEnded(fact.state) ? { state: 'ended', fact } : { state: 'gone' }
}

function readFact(text: string | null): RunFact | undefined {
  if (text === null) return undefined
  const { data } = Fact.safeParse(JSON.parse(text))
  return data?.kind === 'run' ? data : undefined
}
