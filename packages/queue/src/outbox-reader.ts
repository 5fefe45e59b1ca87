import type { Redis } from 'ioredis'
import { outboxKey, outboxRejectedKey, SCHEDULER } from './keys.ts'
import { listQueues } from './registry.ts'

/** The consumer group of every outbox. */
const GROUP = 'recorder'
/** Facts, and characters of them, that one read should bring; entries differ a lot in what they hold. */
const FACTS_PER_READ = 2_000
const TEXT_PER_READ = 8 * 1024 * 1024
const MOST_ENTRIES = 1_000
/** Entries of one outbox that are read when nothing is known of their size. They have 4 MiB at most. */
const CAREFUL_ENTRIES = 32
/** After this long without a read, what lies in the outboxes may be quite other than before. */
const STALE_AFTER_MS = 2_000

export interface OutboxReaderOptions {
  /** For everything but the read that blocks. */
  redis: Redis
  /** For the read that blocks, and nothing else. */
  blocking: Redis
  prefix: string
  /** Names this reader in the group; never that of another one, dead or alive. */
  consumer: string
}

/** One entry of an outbox; its facts are lines of JSON. Without facts when the entry is gone. */
export interface OutboxEntry {
  queue: string
  id: string
  lines: readonly string[]
}

type RawEntry = [id: string, fields: string[] | null] | null
type RawStreams = [key: string, entries: RawEntry[]][] | null

/**
 * Reads the outboxes of all queues, and the one of the leader's terms, as one consumer of a group.
 * What it has read stays pending in Redis until it is acknowledged: a reader that dies loses nothing,
 * another one claims it. Entries come at least once. When Redis lost a group, it is made again from
 * the beginning of the stream, since what is still there was never acknowledged.
 */
export class OutboxReader {
  readonly #redis: Redis
  readonly #blocking: Redis
  readonly #prefix: string
  readonly #consumer: string
  /** Key of the outbox → its queue. */
  readonly #outboxes = new Map<string, string>()
  #entriesPerRead = CAREFUL_ENTRIES
  #lastReadMs = 0
  #interrupted = false

  constructor(options: OutboxReaderOptions) {
    this.#redis = options.redis
    this.#blocking = options.blocking
    this.#prefix = options.prefix
    this.#consumer = options.consumer
    // A reply that got lost with its connection left entries pending that nobody has in hand.
    this.#blocking.on('close', () => {
      this.#interrupted = true
    })
  }

  /** Whether entries may be pending for this reader that it never saw: see `readPending`. */
  get interrupted(): boolean {
    return this.#interrupted
  }

  /**
   * Looks for queues that are new, and prepares their outboxes. To be called before the first read and
   * now and then. An outbox that can't be prepared (a Redis that is full makes no group) is left for
   * the next time, and rejects the call, but keeps no other from being read.
   */
  async findOutboxes(): Promise<void> {
    const queues = [SCHEDULER, ...(await listQueues(this.#redis, this.#prefix))]
    const found = queues.map((queue) => [outboxKey(this.#prefix, queue), queue] as const)
    const fresh = found.filter(([key]) => !this.#outboxes.has(key))
    const failures: unknown[] = []
    for (const [key, queue] of fresh) {
      try {
        await this.#makeGroups([key])
        this.#outboxes.set(key, queue)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Entries that no reader has had; waits up to `blockMs` for the first, not at all without it. */
  async read(blockMs?: number): Promise<OutboxEntry[]> {
    return this.#readFrom('>', blockMs)
  }

  /**
   * Entries that this reader was given and has not acknowledged. To be called when `interrupted` and
   * nothing is in hand; an empty answer ends the interruption.
   */
  async readPending(): Promise<OutboxEntry[]> {
    this.#interrupted = false
    const entries = await this.#readFrom('0')
    if (entries.length > 0) this.#interrupted = true
    return entries
  }

  /**
   * Takes over entries of one outbox that any reader left unacknowledged for `minIdleMs`. Empty when
   * there are no more in any.
   */
  async claimAbandoned(minIdleMs: number): Promise<OutboxEntry[]> {
    const most = ['COUNT', CAREFUL_ENTRIES] as const
    for (const key of this.#outboxes.keys()) {
      const [, entries] = (await this.#mending([key], () =>
        this.#redis.xautoclaim(key, GROUP, this.#consumer, minIdleMs, '0', ...most),
      )) ?? ['0', []]
      const claimed = this.#parse([[key, entries as RawEntry[]]])
      if (claimed.length > 0) return claimed
    }
    return []
  }

  /** Ends entries whose facts are safe elsewhere. */
  async acknowledge(entries: readonly OutboxEntry[]): Promise<void> {
    const ids = new Map<string, string[]>()
    for (const { queue, id } of entries) {
      const key = outboxKey(this.#prefix, queue)
      ids.set(key, [...(ids.get(key) ?? []), id])
    }
    await Promise.all([...ids].map(([key, ofKey]) => this.#end(key, ofKey)))
  }

  /** Puts aside a fact that can't be recorded, with the reason. */
  async reject(entry: OutboxEntry, line: string, reason: string): Promise<void> {
    const key = outboxRejectedKey(this.#prefix, entry.queue)
    await this.#redis.xadd(key, '*', 'fact', line, 'error', reason, 'entry', entry.id)
  }

  /** The age in ms of the oldest entry that is not acknowledged, on Redis' clock; 0 when there is none. */
  async lagMs(): Promise<number> {
    const pipeline = this.#redis.pipeline().time()
    for (const key of this.#outboxes.keys()) pipeline.xrange(key, '-', '+', 'COUNT', 1)
    const [time, ...firsts] = ((await pipeline.exec()) ?? []).map(([error, reply]) => {
      if (error) throw error
      return reply
    })
    const [seconds = 0, micros = 0] = (time as [number, number] | undefined) ?? []
    const nowMs = seconds * 1_000 + micros / 1_000
    const oldest = (firsts as RawEntry[][]).flatMap((entries) =>
      entries[0] ? [Number.parseInt(entries[0][0], 10)] : [],
    )
    return Math.max(0, nowMs - Math.min(nowMs, ...oldest))
  }

  /** Removes readers that were silent for `minIdleMs` and have nothing pending. */
  async forgetSilentReaders(minIdleMs: number): Promise<void> {
    await this.#forget('', minIdleMs)
  }

  /** Removes this reader from the groups, unless it has entries pending: then they are for others to claim. */
  async leave(): Promise<void> {
    await this.#forget(this.#consumer, Number.MAX_SAFE_INTEGER)
  }

  async #forget(leaving: string, minIdleMs: number): Promise<void> {
    for (const key of this.#outboxes.keys()) {
      await this.#mending([key], () =>
        this.#redis.eval(FORGET_READERS, 1, key, GROUP, leaving, minIdleMs),
      )
    }
  }

  async #readFrom(position: '>' | '0', blockMs?: number): Promise<OutboxEntry[]> {
    const keys = [...this.#outboxes.keys()]
    if (performance.now() - this.#lastReadMs > STALE_AFTER_MS)
      this.#entriesPerRead = Math.min(this.#entriesPerRead, CAREFUL_ENTRIES)
    const count = this.#entriesPerRead
    const positions = keys.map(() => position)
    const streams = await this.#mending(keys, () =>
      blockMs === undefined
        ? this.#blocking.xreadgroup(
            ...(['GROUP', GROUP, this.#consumer, 'COUNT', count] as const),
            ...(['STREAMS', ...keys, ...positions] as const),
          )
        : this.#blocking.xreadgroup(
            ...(['GROUP', GROUP, this.#consumer, 'COUNT', count, 'BLOCK', blockMs] as const),
            ...(['STREAMS', ...keys, ...positions] as const),
          ),
    )
    this.#lastReadMs = performance.now()
    const entries = this.#parse(streams as RawStreams)
    this.#adapt(entries)
    return entries
  }

  #parse(streams: RawStreams): OutboxEntry[] {
    return (streams ?? []).flatMap(([key, entries]) =>
      entries.flatMap((raw) =>
        raw ? [{ queue: this.#outboxes.get(key) ?? '', id: raw[0], lines: factLines(raw[1]) }] : [],
      ),
    )
  }

  /**
   * How many entries of each outbox the next read may bring, after what this one brought. It grows at
   * most twofold, since the size of what was not seen is not known.
   */
  #adapt(entries: readonly OutboxEntry[]): void {
    if (entries.length === 0) return
    const lines = entries.flatMap((entry) => entry.lines)
    const text = lines.reduce((sum, line) => sum + line.length, 0)
    const times = Math.min(
      FACTS_PER_READ / Math.max(lines.length, 1),
      TEXT_PER_READ / Math.max(text, 1),
    )
    const perOutbox = new Map<string, number>()
    for (const { queue } of entries) perOutbox.set(queue, (perOutbox.get(queue) ?? 0) + 1)
    const longest = Math.max(...perOutbox.values())
    const known = Math.max(2 * longest, CAREFUL_ENTRIES)
    const wanted = Math.min(Math.round(longest * times), known, MOST_ENTRIES)
    this.#entriesPerRead = Math.max(wanted, 1)
  }

  /** In one MULTI: an entry that is acknowledged but not deleted would never be read again, nor go. */
  async #end(key: string, ids: readonly string[]): Promise<void> {
    const replies = await this.#redis
      .multi()
      .xack(key, GROUP, ...ids)
      .xdel(key, ...ids)
      .exec()
    for (const [error] of replies ?? []) if (error) throw error
  }

  /** A Redis that lost its data has lost the groups too: they are made again, and the answer is undefined. */
  async #mending<T>(keys: readonly string[], command: () => Promise<T>): Promise<T | undefined> {
    try {
      return await command()
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('NOGROUP')) throw error
      await this.#makeGroups(keys)
      return undefined
    }
  }

  async #makeGroups(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.#redis.xgroup('CREATE', key, GROUP, '0', 'MKSTREAM').catch((error: unknown) => {
        if (!(error instanceof Error) || !error.message.startsWith('BUSYGROUP')) throw error
      })
    }
  }
}

/** An entry in another form than ours goes on as one line, for Postgres to refuse and the recorder to put aside. */
function factLines(fields: string[] | null): string[] {
  if (fields === null) return []
  const at = fields.findIndex((field, index) => index % 2 === 0 && field === 'facts')
  const facts = at === -1 ? JSON.stringify(fields) : (fields[at + 1] ?? '')
  return facts.split('\n').filter((line) => line !== '')
}

/**
 * Removes consumers that have nothing pending and are either the one that leaves or silent for long.
 * Looking and removing are one step, since removing a consumer forgets what is pending for it.
 * KEYS[1] an outbox
 * ARGV[1] group  ARGV[2] the consumer that leaves, or ''  ARGV[3] silent for more than this (ms)
 * Returns how many it removed
 */
const FORGET_READERS = `
local removed = 0
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local name, pending, idle = consumer[2], consumer[4], consumer[6]
  if pending == 0 and (name == ARGV[2] or idle > tonumber(ARGV[3])) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], name)
    removed = removed + 1
  end
end
return removed
`
