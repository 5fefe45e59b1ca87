import { createRegistry, type Logger, rateLimitedErrors } from '@jadwal/runtime'
import { Counter, Gauge, Registry } from 'prom-client'
import type { QueueSnapshot, QueueSnapshots } from './queue-snapshots.ts'

/** How an attempt to sign in ended, or the use of a wrong token as a header. */
const OUTCOMES = [
  'signed-in',
  'wrong-token',
  /** Not looked at, as too many wrong tokens came from there. */
  'slowed-down',
  /** The provider knows them, and names no role that is one here. */
  'no-role',
  /** The provider did not let them in. */
  'refused',
  /** What came back belongs to no sign-in that goes on. */
  'stale',
  'provider-away',
] as const
export type SignInOutcome = (typeof OUTCOMES)[number]

export interface ApiMetrics {
  read: () => Promise<{ text: string; contentType: string }>
  signIns: Counter<'outcome'>
}

/**
 * The metrics of the api. What they say of queues is at most 5 s old; while Redis is away it is absent
 * rather than wrong, and the scrape is answered all the same.
 */
export function createApiMetrics(snapshots: QueueSnapshots, log: Logger): ApiMetrics {
  const process = createRegistry()
  const failed = rateLimitedErrors(log, 'queues cannot be counted')
  const signIns = new Counter({
    name: 'jadwal_sign_ins_total',
    help: 'Attempts to sign in at this api, and wrong tokens, by how they ended.',
    labelNames: ['outcome'] as const,
    registers: [process],
  })
  // What first appears with its first count is no increase to who watches the rate.
  for (const outcome of OUTCOMES) signIns.inc({ outcome }, 0)
  const read: ApiMetrics['read'] = async () => {
    const snapshot = await snapshots.recent().catch(failed)
    const parts = [process, ...(snapshot ? [queueMetrics(snapshot)] : [])]
    const texts = await Promise.all(parts.map((part) => part.metrics()))
    return { text: texts.join(''), contentType: process.contentType }
  }
  return { read, signIns }
}

/** A registry of its own for each snapshot: a queue or worker that is gone leaves nothing behind. */
function queueMetrics(snapshot: QueueSnapshot): Registry {
  const registry = new Registry()
  const gauge = (name: string, help: string, labelNames: string[]): Gauge =>
    new Gauge({ name, help, labelNames, registers: [registry] })

  const messages = gauge(
    'jadwal_queue_messages',
    'Messages in a queue by the state that BullMQ has them in.',
    ['queue', 'state'],
  )
  const oldest = gauge(
    'jadwal_queue_oldest_waiting_seconds',
    'How long the run that is taken next has been waiting; 0 when none waits.',
    ['queue'],
  )
  const dead = gauge('jadwal_dead_letters', 'Dead letters of a queue.', ['queue'])
  const outbox = gauge('jadwal_outbox_depth', 'Entries of facts that wait for the recorder.', [
    'queue',
  ])
  for (const { name: queue, ...counted } of snapshot.queues) {
    for (const [state, count] of Object.entries(counted.counts))
      messages.set({ queue, state }, count)
    oldest.set({ queue }, counted.oldestWaitingSeconds ?? 0)
    dead.set({ queue }, counted.deadLetters)
    outbox.set({ queue }, counted.outboxDepth)
  }
  outbox.set({ queue: SCHEDULER_OUTBOX }, snapshot.termsOutboxDepth)
  const open = gauge('jadwal_alerts_open', 'Alerts that are open, by rule.', ['rule'])
  for (const { rule } of snapshot.alerts) open.inc({ rule })
  gauge('jadwal_workers', 'Live workers.', []).set(snapshot.workers.length)
  return registry
}

/** The label of the outbox that carries the leaders' terms. */
const SCHEDULER_OUTBOX = 'scheduler'
