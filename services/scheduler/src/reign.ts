import type { TermEnd } from '@jadwal/domain'
import type { Alarms, Lease, Reign } from '@jadwal/queue'
import { pollLoop } from '@jadwal/runtime'
import type { Bell } from './bell.ts'
import { Firing, type FiringDeps, isLeaseLost } from './firing.ts'
import type { StepDown } from './step-down.ts'

/** How often the alarms are compared with what they should be. */
const ALARMS_MS = 10_000
const WATCH_MS = 100

export interface ReignDeps extends FiringDeps {
  lease: Lease
  alarms: Alarms
  /** Rings when something may be due: an alarm, or schedules that have changed. */
  due: Bell
  leaseMs: number
  stepDown: StepDown
  /** What else the leader does now and then in a reign, by name. Each returns ms until its next time. */
  upkeep: (reign: Reign) => Readonly<Record<string, () => Promise<number>>>
}

/** Why a reign is over while its process goes on. */
class ReignOver extends Error {
  readonly end: TermEnd

  constructor(end: TermEnd, message: string) {
    super(message)
    this.end = end
  }
}

/**
 * One reign, from the lease taken to the lease given back. It ends when `stop` aborts, when it is
 * asked to step down, when the lease is lost or no longer trusted, or when the watchdog sees no progress
 * in the firing. Nothing that fires outlives it. Returns why it ended.
 */
export async function rule(deps: ReignDeps, reign: Reign, stop: AbortSignal): Promise<TermEnd> {
  const { alarms, due, lease, leaseMs, log, metrics, redisClock, stepDown } = deps
  const over = new AbortController()
  const endFor = (end: TermEnd, why: string): void => over.abort(new ReignOver(end, why))
  const signal = AbortSignal.any([stop, over.signal])
  const firing = new Firing(deps, reign, signal)
  metrics.leader.set(1)
  metrics.term.set(reign.term)
  log.info({ term: reign.term }, 'leading')
  alarms.listen(() => due.ring())
  stepDown.listen(reign.term, () => endFor('stepped-down', 'asked to step down'))

  const loop = (name: string, poll: () => Promise<number>): Promise<void> =>
    pollLoop(poll, { signal, log, name })
  const others = [
    loop('renew the lease', async () => {
      if (!(await lease.renew())) endFor('untrusted', 'another scheduler holds the lease')
      return leaseMs / 3
    }),
    loop('watch the reign', async () => {
      if (!reign.trusted()) endFor('untrusted', 'the lease could not be renewed in time')
      if (deps.clock.monotonicMs() - firing.progressedAtMs > 2 * leaseMs + 10_000) {
        endFor('stalled', 'the firing made no progress')
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
      if (isLeaseLost(error)) endFor('untrusted', String(error))
      throw error
    })
    await due.wait(waitMs, signal)
    return 0
  })

  // The lease goes back as soon as nothing is fired any more: a standby waits for it.
  metrics.leader.set(0)
  metrics.term.set(0)
  const end = whyOver(over.signal)
  await lease.release(new Date(redisClock.nowMs()).toISOString(), end).catch((error: unknown) => {
    log.warn({ err: error }, 'lease not released, it will run out')
  })
  const reason = over.signal.aborted ? String(over.signal.reason) : 'stopped'
  log.info({ term: reign.term, end, reason }, 'no longer leading')
  stepDown.stopListening()
  await Promise.all([...others, alarms.stopListening()])
  return end
}

function whyOver(over: AbortSignal): TermEnd {
  return over.reason instanceof ReignOver ? over.reason.end : 'released'
}
