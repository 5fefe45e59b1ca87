import type { Alarms, Lease, Reign } from '@jadwal/queue'
import { pollLoop } from '@jadwal/runtime'
import type { Bell } from './bell.ts'
import { Firing, type FiringDeps, isLeaseLost } from './firing.ts'

/** How often the alarms are compared with what they should be. */
const ALARMS_MS = 10_000
const WATCH_MS = 100

export interface ReignDeps extends FiringDeps {
  lease: Lease
  alarms: Alarms
  /** Rings when something may be due: an alarm, or schedules that have changed. */
  due: Bell
  leaseMs: number
  /** What else the leader does now and then in a reign, by name. Each returns ms until its next time. */
  upkeep: (reign: Reign) => Readonly<Record<string, () => Promise<number>>>
}

/**
 * One reign, from the lease taken to the lease given back. It ends when `stop` aborts, when the lease
 * is lost or no longer trusted, or when the watchdog sees no progress in the firing. Nothing that fires
 * outlives it.
 */
export async function rule(deps: ReignDeps, reign: Reign, stop: AbortSignal): Promise<void> {
  const { alarms, due, lease, leaseMs, log, metrics, redisClock } = deps
  const over = new AbortController()
  const signal = AbortSignal.any([stop, over.signal])
  const firing = new Firing(deps, reign, signal)
  metrics.leader.set(1)
  metrics.term.set(reign.term)
  log.info({ term: reign.term }, 'leading')
  alarms.listen(() => due.ring())

  const loop = (name: string, poll: () => Promise<number>): Promise<void> =>
    pollLoop(poll, { signal, log, name })
  const others = [
    loop('renew the lease', async () => {
      if (!(await lease.renew())) over.abort(new Error('another scheduler holds the lease'))
      return leaseMs / 3
    }),
    loop('watch the reign', async () => {
      if (!reign.trusted()) over.abort(new Error('the lease could not be renewed in time'))
      if (deps.clock.monotonicMs() - firing.progressedAtMs > 2 * leaseMs + 10_000) {
        over.abort(new Error('the firing made no progress'))
      }
      return WATCH_MS
    }),
    loop('keep the alarms', async () => {
      await alarms.reconcile(deps.book.cadenceKeys(), redisClock.nowMs())
      return ALARMS_MS
    }),
  ]
  // Upkeep is harmless whoever does it, and may wait for Postgres: nobody waits for its end.
  for (const [name, poll] of Object.entries(deps.upkeep(reign))) void loop(name, poll)
  await loop('fire ticks', async () => {
    const waitMs = await firing.pass().catch((error: unknown) => {
      if (isLeaseLost(error)) over.abort(error)
      throw error
    })
    await due.wait(waitMs, signal)
    return 0
  })

  // The lease goes back as soon as nothing is fired any more: a standby waits for it.
  metrics.leader.set(0)
  metrics.term.set(0)
  await lease.release(new Date(redisClock.nowMs()).toISOString()).catch((error: unknown) => {
    log.warn({ err: error }, 'lease not released, it will run out')
  })
  const reason = over.signal.aborted ? String(over.signal.reason) : 'stopped'
  log.info({ term: reign.term, reason }, 'no longer leading')
  await Promise.all([...others, alarms.stopListening()])
}
