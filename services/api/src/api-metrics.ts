import { createRegistry, type Logger, rateLimitedErrors } from '@jadwal/runtime'
import { Gauge } from 'prom-client'
import type { QueueSnapshot, QueueSnapshots } from './queue-snapshots.ts'

/**
 * The metrics of the api. What they say of queues is at most 5 s old; while Redis is away it is absent
 * rather than wrong, and the scrape is answered all the same.
 */
export function createApiMetrics(
  snapshots: QueueSnapshots,
  log: Logger,
): () => Promise<{ text: string; contentType: string }> {
  const registry = createRegistry()
  const registers = [registry]
  const gauges = {
    messages: new Gauge({
      name: 'jadwal_queue_messages',
      help: 'Messages in a queue by the state that BullMQ has them in.',
      labelNames: ['queue', 'state'],
      registers,
    }),
    oldest: new Gauge({
      name: 'jadwal_queue_oldest_waiting_seconds',
      help: 'How long the run that is taken next has been waiting; 0 when none waits.',
      labelNames: ['queue'],
      registers,
    }),
    dead: new Gauge({
      name: 'jadwal_dead_letters',
      help: 'Dead letters of a queue.',
      labelNames: ['queue'],
      registers,
    }),
    outbox: new Gauge({
      name: 'jadwal_outbox_depth',
      help: 'Entries of facts that wait for the recorder.',
      labelNames: ['queue'],
      registers,
    }),
    workers: new Gauge({
      name: 'jadwal_workers',
      help: 'Live workers.',
      labelNames: [],
      registers,
    }),
  }
  const failed = rateLimitedErrors(log, 'queues cannot be counted')

  function show(snapshot: QueueSnapshot): void {
    for (const queue of snapshot.queues) {
      const { name } = queue
      for (const [state, count] of Object.entries(queue.counts))
        gauges.messages.set({ queue: name, state }, count)
      gauges.oldest.set({ queue: name }, queue.oldestWaitingSeconds ?? 0)
      gauges.dead.set({ queue: name }, queue.deadLetters)
      gauges.outbox.set({ queue: name }, queue.outboxDepth)
    }
    gauges.outbox.set({ queue: 'scheduler' }, snapshot.termsOutboxDepth)
    gauges.workers.set(snapshot.workers.length)
  }

  return async () => {
    const snapshot = await snapshots.recent().catch(failed)
    for (const gauge of Object.values(gauges)) {
      gauge.reset()
      // A gauge without labels comes back as 0, which would say that there are no workers.
      gauge.remove()
    }
    if (snapshot) show(snapshot)
    return { text: await registry.metrics(), contentType: registry.contentType }
  }
}
