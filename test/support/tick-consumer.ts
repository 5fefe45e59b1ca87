import { Worker } from 'bullmq'
import type { Sighting } from '../ledger/check-sightings.ts'

export interface TickConsumer extends AsyncDisposable {
  readonly sightings: readonly Sighting[]
}

/** A bare BullMQ worker that notes each run that it is handed, and nothing else. */
export function consumeTicks(redisUrl: string, prefix: string, queue: string): TickConsumer {
  const sightings: Sighting[] = []
  const seen = new Set<string | undefined>()
  const { hostname, port } = new URL(redisUrl)
  const worker = new Worker(
    queue,
    async (message) => {
      // The same message, handed over again: Redis was away when its end, or its start, was to be told.
      if (message.attemptsStarted > 1 && seen.has(message.id)) return
      seen.add(message.id)
      const { schedule } = message.data as { schedule: { id: string; tickAt: string } }
      sightings.push({
        scheduleId: schedule.id,
        tickAtMs: Date.parse(schedule.tickAt),
        seenAtMs: Date.now(),
      })
    },
    {
      connection: { host: hostname, port: Number(port), maxRetriesPerRequest: null },
      prefix: `{${prefix}:${queue}}`,
      concurrency: 100,
      removeOnComplete: { count: 0 },
      maxStalledCount: 1_000,
      lockDuration: 4_000,
      stalledInterval: 2_000,
    },
  )
  worker.on('error', () => {})
  return {
    sightings,
    async [Symbol.asyncDispose]() {
      await worker.close(true)
    },
  }
}
