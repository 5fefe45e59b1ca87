import type { Redis } from 'ioredis'
import { z } from 'zod'
import { GAP } from './events.ts'
import { eventsKey, runEventsKey } from './keys.ts'

/** Entries of each stream that one read brings. */
const PAGE = 500
const BEGIN = '0-0'

/** The ids of the last entries that were read, of both streams. */
export interface EventPosition {
  events: string
  runs: string
}

export interface EventEntry {
  stream: keyof EventPosition
  id: string
  type: string
  at: string
  data: Record<string, unknown>
}

export interface ReadOptions {
  after: EventPosition
  /** Also what happens to runs. */
  withRuns: boolean
}

/** Both ids in one text. */
export function writePosition({ events, runs }: EventPosition): string {
  return `${events}_${runs}`
}

/** What `writePosition` wrote; undefined for any other text. */
export function readPosition(text: string): EventPosition | undefined {
  const [, events, runs] = /^(\d{1,15}-\d{1,15})_(\d{1,15}-\d{1,15})$/.exec(text) ?? []
  return events !== undefined && runs !== undefined ? { events, runs } : undefined
}

/** Reads events of both streams, in their order. It has no connection of its own. */
export class EventReader {
  readonly #keys: Record<keyof EventPosition, string>

  constructor(prefix: string) {
    this.#keys = { events: eventsKey(prefix), runs: runEventsKey(prefix) }
  }

  /** Behind everything that is there now. */
  async end(redis: Redis): Promise<EventPosition> {
    const [events, runs] = await Promise.all(
      (['events', 'runs'] as const).map(async (stream) => {
        const [last] = await redis.xrevrange(this.#keys[stream], '+', '-', 'COUNT', 1)
        return last?.[0] ?? BEGIN
      }),
    )
    return { events: events ?? BEGIN, runs: runs ?? BEGIN }
  }

  /** What comes after a position; waits up to `blockMs` for the first. Its connection must be for this alone. */
  async next(
    redis: Redis,
    { after, withRuns }: ReadOptions,
    blockMs: number,
  ): Promise<EventEntry[]> {
    const streams = withRuns ? (['events', 'runs'] as const) : (['events'] as const)
    const found = await redis.xread(
      ...(['COUNT', PAGE, 'BLOCK', blockMs, 'STREAMS'] as const),
      ...streams.map((stream) => this.#keys[stream]),
      ...streams.map((stream) => after[stream]),
    )
    const entries = (found ?? []).flatMap(([key, raw]) =>
      parseAll(key === this.#keys.runs ? 'runs' : 'events', raw),
    )
    return entries.toSorted(byId)
  }

  /** A page of what lies between two positions; empty when nothing does. */
  async between(
    redis: Redis,
    { after, withRuns }: ReadOptions,
    until: EventPosition,
  ): Promise<EventEntry[]> {
    const streams = withRuns ? (['events', 'runs'] as const) : (['events'] as const)
    const pages = await Promise.all(
      streams.map(async (stream) => {
        if (compareIds(after[stream], until[stream]) >= 0) return []
        const range = [`(${after[stream]}`, until[stream]] as const
        return parseAll(stream, await redis.xrange(this.#keys[stream], ...range, 'COUNT', PAGE))
      }),
    )
    // What comes after a page that is full may belong between the entries of the other.
    const borders = pages.flatMap((page) =>
      page.length === PAGE ? [page.at(-1)?.id ?? BEGIN] : [],
    )
    return pages
      .flat()
      .filter(({ id }) => borders.every((border) => compareIds(id, border) <= 0))
      .toSorted(byId)
  }

  /** Whether entries after a position may be gone, or the position is of none that Redis still knows. */
  async hasGap(redis: Redis, { after, withRuns }: ReadOptions): Promise<boolean> {
    for (const stream of withRuns ? (['events', 'runs'] as const) : (['events'] as const)) {
      // Of a stream that had nothing, all that came since is there, as far as it was not cut.
      if (after[stream] === BEGIN) continue
      const [own] = await redis.xrange(this.#keys[stream], after[stream], after[stream])
      if (own) continue
      const [first] = await redis.xrange(this.#keys[stream], '-', '+', 'COUNT', 1)
      if (!first || compareIds(first[0], after[stream]) > 0) return true
    }
    return false
  }
}

/** Whether an entry says that others are missing. */
export function isGap(entry: EventEntry): boolean {
  return entry.type === GAP
}

/** Positive when `a` is later. */
function compareIds(a: string, b: string): number {
  const [aMs = 0, aNumber = 0] = a.split('-').map(Number)
  const [bMs = 0, bNumber = 0] = b.split('-').map(Number)
  return aMs - bMs || aNumber - bNumber
}

function byId(a: EventEntry, b: EventEntry): number {
  return compareIds(a.id, b.id)
}

const Fields = z.object({ type: z.string(), at: z.string(), data: z.string() })
const Data = z.record(z.string(), z.unknown())

function parseAll(
  stream: keyof EventPosition,
  raw: readonly (readonly [id: string, fields: readonly string[]])[],
): EventEntry[] {
  return raw.map(([id, list]) => {
    const pairs: [string, string][] = []
    for (let at = 0; at < list.length; at += 2) pairs.push([list[at] ?? '', list[at + 1] ?? ''])
    const { type, at, data } = Fields.parse(Object.fromEntries(pairs))
    return { stream, id, type, at, data: Data.parse(JSON.parse(data)) }
  })
}
