import type { Redis } from 'ioredis'
import { appendEvents, type JadwalEvent } from './events.ts'
import { toldWorkersKey } from './keys.ts'
import { readWorkers } from './registry.ts'

/**
 * Raises the events of workers that have joined or left since the last time, by the heartbeats that are
 * there at `nowMs`. One that was killed has left when its heartbeat is 20 s old. Each is told at least
 * once. Returns how many events there were.
 */
export async function tellWorkers(redis: Redis, prefix: string, nowMs: number): Promise<number> {
  const key = toldWorkersKey(prefix)
  const [workers, told] = [await readWorkers(redis, prefix, nowMs), await redis.smembers(key)]
  const living = new Set(workers.map(({ instance }) => instance))
  const known = new Set(told)
  const joined = workers.filter(({ instance }) => !known.has(instance))
  const left = told.filter((instance) => !living.has(instance))
  const at = new Date(nowMs).toISOString()
  const events: JadwalEvent[] = [
    ...joined.map(({ instance, host, version, queues }) => {
      const data = { instance, host, version, queues: queues.map(({ name }) => name) }
      return { type: 'worker.joined' as const, at, data }
    }),
    ...left.map((instance) => ({ type: 'worker.left' as const, at, data: { instance } })),
  ]
  await appendEvents(redis, prefix, events)
  if (joined.length > 0) await redis.sadd(key, ...joined.map(({ instance }) => instance))
  if (left.length > 0) await redis.srem(key, ...left)
  return events.length
}
