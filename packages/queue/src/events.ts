import type { EventType, RunEventType } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { eventsKey, runEventsKey, runEventsWantedKey } from './keys.ts'

/** So many of each stream are kept, about. */
const KEPT = 10_000
/** A wish to hear of runs lasts this long; whoever has it renews it more often. */
const WANTED_MS = 10_000
/** Nobody has heard for so long: what is kept of runs is of no use to anyone any more. */
const RUN_EVENTS_KEPT_MS = 60 * 60 * 1_000

/** In the stream of runs, where events are missing that nobody listened to. */
export const GAP = 'gap'

/** Something that people may want to be told of. Its data is told by `EVENT_DATA` of the domain. */
export interface JadwalEvent {
  type: EventType
  /** ISO 8601. */
  at: string
  data: Record<string, unknown>
}

/** What happened to a run, for those who listen right now. Its data is told by `RUN_EVENT_DATA`. */
export interface RunEvent {
  type: RunEventType
  /** ISO 8601. */
  at: string
  data: Record<string, unknown>
}

/** Appends events to the stream that alerts and live views read. The oldest go when there are many. */
export async function appendEvents(
  redis: Redis,
  prefix: string,
  events: readonly JadwalEvent[],
): Promise<void> {
  await append(redis, { key: eventsKey(prefix) }, events)
}

/** Appends what happened to runs, for those who listen: see `areRunEventsWanted`. */
export async function appendRunEvents(
  redis: Redis,
  prefix: string,
  events: readonly RunEvent[],
): Promise<void> {
  await append(redis, runStream(prefix), events.slice(-KEPT))
}

/** Whether anybody listens to what happens to runs. */
export async function areRunEventsWanted(redis: Redis, prefix: string): Promise<boolean> {
  return (await redis.exists(runEventsWantedKey(prefix))) === 1
}

/**
 * Says that somebody listens to what happens to runs, for 10 s: to be renewed. When nobody had, a gap is
 * marked, so that who goes on listening later knows that events are missing.
 */
export async function wantRunEvents(redis: Redis, prefix: string): Promise<void> {
  const key = runEventsWantedKey(prefix)
  const isFirst = (await redis.set(key, '1', 'PX', WANTED_MS, 'NX')) === 'OK'
  if (!isFirst) await redis.set(key, '1', 'PX', WANTED_MS)
  else {
    const at = new Date(await nowMs(redis)).toISOString()
    await append(redis, runStream(prefix), [{ type: GAP, at, data: {} }])
  }
}

function runStream(prefix: string) {
  return { key: runEventsKey(prefix), keptMs: RUN_EVENTS_KEPT_MS }
}

async function append(
  redis: Redis,
  { key, keptMs }: { key: string; keptMs?: number },
  events: readonly { type: string; at: string; data: object }[],
): Promise<void> {
  if (events.length === 0) return
  const pipeline = redis.multi()
  for (const { type, at, data } of events) {
    const fields = ['type', type, 'at', at, 'data', JSON.stringify(data)]
    pipeline.xadd(key, 'MAXLEN', '~', KEPT, '*', ...fields)
  }
  if (keptMs !== undefined) pipeline.pexpire(key, keptMs)
  for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error
}

async function nowMs(redis: Redis): Promise<number> {
  const [seconds = 0, micros = 0] = (await redis.time()).map(Number)
  return seconds * 1_000 + Math.floor(micros / 1_000)
}
