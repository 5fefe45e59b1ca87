import { hostname } from 'node:os'
import type { Clock, JobDescription } from '@jadwal/domain'
import {
  announceRunning,
  type CancelWatch,
  memoryUse,
  outboxShare,
  publishCatalogue,
  publishHeartbeat,
  sweepFailed,
  WORKERS_STOP_AT,
} from '@jadwal/queue'
import { type Logger, VERSION } from '@jadwal/runtime'
import type { Redis } from 'ioredis'
import type { AttemptsInHand } from './attempts-in-hand.ts'
import type { FetchGate } from './fetch-gate.ts'
import type { ServedQueue } from './queue-list.ts'

const HEARTBEAT_MS = 5_000
const CATALOGUE_EACH = 6
const SHOWN_RUNNING = 100
const ANNOUNCE_AFTER_MS = 1_000
const ANNOUNCE_EACH_MS = 500
const CANCELS_MS = 1_000
const SWEEP_MS = 10_000
const MEMORY_MS = 1_000
const RESUME_AT = 0.75
/** Outboxes that take more than this part of maxmemory are what to wait for. */
const LONG_OUTBOXES = 0.05

export interface LoopDeps {
  redis: Redis
  prefix: string
  instance: string
  queues: readonly ServedQueue[]
  attempts: AttemptsInHand
  clock: Clock
  log: Logger
}

/** Says each 5 s that this worker lives, and each 30 s what it serves: Redis may have lost it. */
export function heartbeat(
  deps: LoopDeps & { catalogue: readonly JobDescription[]; stop: AbortSignal },
): () => Promise<number> {
  const { redis, prefix, instance, queues, attempts, clock, stop } = deps
  const startedAt = clock.now().toISOString()
  let beats = 0
  return async () => {
    if (beats % CATALOGUE_EACH === 0) await publishCatalogue(redis, prefix, deps.catalogue)
    beats += 1
    await publishHeartbeat(redis, prefix, {
      instance,
      host: hostname(),
      pid: process.pid,
      version: VERSION,
      startedAt,
      seenAt: clock.now().toISOString(),
      state: stop.aborted ? 'draining' : 'running',
      queues: [...queues],
      running: shownRunning(attempts),
      runningCount: attempts.size,
      memoryBytes: process.memoryUsage.rss(),
    })
    return HEARTBEAT_MS
  }
}

/** Tells the history of attempts that have been running for a second. */
export function announceLong(deps: LoopDeps): () => Promise<number> {
  const { redis, prefix, instance, queues, attempts, clock } = deps
  return async () => {
    const before = clock.monotonicMs() - ANNOUNCE_AFTER_MS
    const long = [...attempts].filter(
      (attempt) => !attempt.announced && attempt.startedMs <= before,
    )
    for (const { name: queue } of long.length > 0 ? queues : []) {
      const some = long.filter((attempt) => attempt.run.queue === queue)
      const runs = some.map((attempt) => attempt.run)
      await announceRunning({ redis, prefix, worker: instance }, queue, runs)
      for (const attempt of some) attempt.announced = true
    }
    return ANNOUNCE_EACH_MS
  }
}

/** Finds the cancels that were not heard of, for the attempts in hand. */
export function lookForCancels(
  deps: Pick<LoopDeps, 'attempts'> & { cancels: CancelWatch },
): () => Promise<number> {
  const { attempts, cancels } = deps
  return async () => {
    if (attempts.size > 0) attempts.cancel(await cancels.look())
    return CANCELS_MS
  }
}

/** Ends what BullMQ gave up by itself. */
export function sweep(deps: LoopDeps): () => Promise<number> {
  const { redis, prefix, queues, clock, log } = deps
  return async () => {
    for (const { name: queue } of queues) {
      const ended = await sweepFailed({ redis, prefix, queue, clock })
      if (ended > 0)
        log.error({ queue, runs: ended }, 'runs that BullMQ gave up moved to dead letters')
    }
    return SWEEP_MS
  }
}

/**
 * Takes no runs while Redis is nearly full and outboxes, of whichever queue, are what fills it: the
 * recorder makes room then. Whatever else fills it, working runs off is no harm and may be the cure.
 */
export function watchMemory(deps: LoopDeps & { gate: FetchGate }): () => Promise<number> {
  const { redis, prefix, gate } = deps
  return async () => {
    const limit = gate.isHeldFor('memory') ? RESUME_AT : WORKERS_STOP_AT
    const isFull = (await memoryUse(redis)) >= limit
    if (isFull && (await outboxShare(redis, prefix)) > LONG_OUTBOXES) await gate.hold('memory')
    else await gate.release('memory')
    return MEMORY_MS
  }
}

function shownRunning(attempts: AttemptsInHand) {
  const shown = []
  for (const { run } of attempts) {
    if (shown.length === SHOWN_RUNNING) break
    const startedAt = new Date(run.startedAtMs).toISOString()
    shown.push({ id: run.id, job: run.job, attempt: run.attempt, startedAt })
  }
  return shown
}
