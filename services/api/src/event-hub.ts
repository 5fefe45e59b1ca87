import type { Clock } from '@jadwal/domain'
import {
  type EventPosition,
  EventReader,
  openRedis,
  producerConnection,
  wantRunEvents,
} from '@jadwal/queue'
import { type Logger, rateLimitedErrors, sleep } from '@jadwal/runtime'
import type { Response } from 'express'
import type { Redis } from 'ioredis'
import { askRedis } from './ask.ts'
import type { Caller } from './caller.ts'
import type { EventFilter } from './event-filter.ts'
import { EventStream } from './event-stream.ts'
import { StreamPlaces } from './stream-places.ts'

const BLOCK_MS = 1_000
const HEARTBEAT_MS = 15_000
/** Within the time for which a wish to hear of runs holds. */
const WANT_EACH_MS = 3_000
const PAUSE_MS = 500
/** How often is asked whether a client may still listen. */
const ADMIT_EACH_MS = 5_000
/** A client connects again by itself after this long. */
const LONGEST_MS = 60 * 60 * 1_000

export interface EventHubDeps {
  redis: Redis
  redisUrl: string
  prefix: string
  clock: Pick<Clock, 'monotonicMs'>
  log: Logger
  /** Clients at once. */
  most: number
}

/** What a client wants to hear, and whether it may. */
interface Listening {
  caller: Caller
  filter: EventFilter
  after?: EventPosition | undefined
  /** Whether what let the client in is still good. When it is not, or nobody can tell, its stream ends. */
  mayListen: () => Promise<boolean>
}

interface Admitted {
  mayListen: () => Promise<boolean>
  askedAtMs: number
  untilMs: number
}

/** Reads events once for all clients of this process, while there are any. */
export class EventHub {
  readonly #deps: EventHubDeps
  readonly #reader: EventReader
  readonly #blocking: Redis
  readonly #streams = new Map<EventStream, Admitted>()
  readonly #stop = new AbortController()
  readonly #onError: (error: unknown) => void
  /** Those that are being let in have one, too. */
  readonly #places: StreamPlaces
  /** Behind what was read last; undefined while nothing is read. */
  #position: EventPosition | undefined
  #readsRuns = false
  #wantedAtMs = -Infinity
  #loop: Promise<void> | undefined

  constructor(deps: EventHubDeps) {
    this.#deps = deps
    this.#places = new StreamPlaces(
      deps.most,
      `At most ${deps.most} clients may listen to events of this process (JADWAL_MAX_EVENT_STREAMS).`,
    )
    this.#reader = new EventReader(deps.prefix)
    this.#onError = rateLimitedErrors(deps.log, 'events can not be read for now')
    this.#blocking = openRedis(producerConnection(deps.redisUrl), this.#onError)
  }

  /**
   * Sends events to a client until it goes, from behind `after` when given. Throws a `Problem` when there
   * are too many clients or Redis is away, before anything is sent.
   */
  async serve(res: Response, { caller, filter, after, mayListen }: Listening): Promise<void> {
    const { clock, redis } = this.#deps
    if (this.#stop.signal.aborted) throw this.#places.refusal()
    const leave = this.#places.take(caller)
    const nowMs = (): number => clock.monotonicMs()
    const stream = new EventStream(res, { filter, position: after ?? BEGIN, nowMs })
    res.on('close', () => {
      leave()
      this.#streams.delete(stream)
    })
    const until = await askRedis(() => this.#join(stream, mayListen))
    if (res.closed) return void this.#streams.delete(stream)
    startStream(res)
    if (after) await this.#catchUp(redis, { stream, after, until })
    else stream.startAt(until)
    stream.goLive()
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    this.#stop.abort()
    for (const stream of this.#streams.keys()) stream.end()
    this.#streams.clear()
    this.#blocking.disconnect()
    await this.#loop
  }

  /** From here on the stream hears what is read. Resolves to the position before that. */
  async #join(stream: EventStream, mayListen: Admitted['mayListen']): Promise<EventPosition> {
    const { redis, prefix, clock } = this.#deps
    const startsRuns = stream.wantsRuns && !this.#readsRuns
    if (startsRuns) {
      await wantRunEvents(redis, prefix)
      this.#wantedAtMs = clock.monotonicMs()
    }
    if (this.#position === undefined || startsRuns) {
      const end = await this.#reader.end(redis)
      this.#position ??= end
      if (startsRuns && !this.#readsRuns) this.#position.runs = end.runs
    }
    this.#readsRuns ||= stream.wantsRuns
    const nowMs = clock.monotonicMs()
    this.#streams.set(stream, { mayListen, askedAtMs: nowMs, untilMs: nowMs + LONGEST_MS })
    stream.lastSentMs = nowMs
    this.#loop ??= this.#read()
    return { ...this.#position }
  }

  /** Sends what lies between two positions. What Redis does not give now is a gap. */
  async #catchUp(
    redis: Redis,
    { stream, after, until }: { stream: EventStream; after: EventPosition; until: EventPosition },
  ): Promise<void> {
    const withRuns = stream.wantsRuns
    // Of runs, nothing is older for a client that had not listened to them.
    const position = { ...after, ...(after.runs === BEGIN.runs ? { runs: until.runs } : {}) }
    try {
      if (await this.#reader.hasGap(redis, { after: position, withRuns })) stream.miss('not-kept')
      while (this.#streams.has(stream)) {
        const options = { after: position, withRuns }
        const entries = await this.#reader.between(redis, options, until)
        if (entries.length === 0) return
        for (const entry of entries) {
          position[entry.stream] = entry.id
          stream.send(entry)
        }
        await stream.drained()
      }
    } catch (error) {
      this.#onError(error)
      stream.miss('not-heard')
    }
  }

  async #read(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted && this.#streams.size > 0) {
      try {
        await this.#readOnce()
      } catch (error) {
        if (!signal.aborted) this.#onError(error)
        await sleep(PAUSE_MS, signal)
      }
      this.#lookAfter()
    }
    this.#loop = undefined
    this.#position = undefined
    this.#readsRuns = false
  }

  async #readOnce(): Promise<void> {
    const { redis, prefix, clock } = this.#deps
    const after = this.#position
    if (!after) return
    this.#readsRuns = [...this.#streams.keys()].some((stream) => stream.wantsRuns)
    if (this.#readsRuns && clock.monotonicMs() - this.#wantedAtMs >= WANT_EACH_MS) {
      await wantRunEvents(redis, prefix)
      this.#wantedAtMs = clock.monotonicMs()
    }
    const options = { after: { ...after }, withRuns: this.#readsRuns }
    const entries = await this.#reader.next(this.#blocking, options, BLOCK_MS)
    for (const entry of entries) {
      after[entry.stream] = entry.id
      for (const stream of this.#streams.keys()) stream.hear(entry)
    }
  }

  #lookAfter(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    for (const [stream, admitted] of this.#streams) {
      if (nowMs >= admitted.untilMs) {
        stream.end()
        continue
      }
      if (nowMs - admitted.askedAtMs >= ADMIT_EACH_MS) {
        admitted.askedAtMs = nowMs
        void endUnlessAdmitted(stream, admitted)
      }
      if (nowMs - stream.lastSentMs >= HEARTBEAT_MS) stream.beat()
    }
  }
}

async function endUnlessAdmitted(stream: EventStream, { mayListen }: Admitted): Promise<void> {
  if (!(await mayListen().catch(() => false))) stream.end()
}

const BEGIN: EventPosition = { events: '0-0', runs: '0-0' }

/** Nothing between may gather what is sent, or pack it. */
function startStream(res: Response): void {
  res.status(200).set({
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  })
  res.flushHeaders()
  res.write('retry: 2000\n\n')
}
