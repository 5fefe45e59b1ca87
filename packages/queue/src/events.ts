import type { Redis } from 'ioredis'
import { eventsKey } from './keys.ts'

/** So many are kept, about. */
const KEPT = 10_000

/** Something that people may want to be told of. */
export interface JadwalEvent {
  /**
   * `tick.late`: a tick had not succeeded by the time that its schedule gives it. `fuse.opened`,
   * `fuse.closed`: runs of a job are parked because too many failed, and made again.
   * `queue.paused`, `queue.resumed`: somebody did so.
   */
  type: 'tick.late' | 'fuse.opened' | 'fuse.closed' | 'queue.paused' | 'queue.resumed'
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
  if (events.length === 0) return
  const pipeline = redis.multi()
  for (const { type, at, data } of events) {
    const fields = ['type', type, 'at', at, 'data', JSON.stringify(data)]
    pipeline.xadd(eventsKey(prefix), 'MAXLEN', '~', KEPT, '*', ...fields)
  }
  for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error
}
