import type { RunWorker } from '@jadwal/queue'
import { type Logger, sleep } from '@jadwal/runtime'
import type { AttemptsInHand } from './attempts-in-hand.ts'

/** What handlers get after the abort to end (1 s, see Attempt), and Redis to be told. */
const AFTER_ABORT_MS = 3_000

export interface DrainDeps {
  workers: readonly RunWorker[]
  attempts: AttemptsInHand
  graceMs: number
  /** Aborts when there shall be no grace. */
  hurry: AbortSignal
  log: Logger
}

/**
 * Takes no more runs, lets those in hand end within the grace, then aborts them and puts them back for
 * other workers. Returns false when Redis could not be told of all in time: the rest is rescued by
 * others once its locks have expired.
 */
export async function drain(deps: DrainDeps): Promise<boolean> {
  const { workers, attempts, graceMs, hurry, log } = deps
  const closed = Promise.all(workers.map((worker) => worker.close())).then(() => true)
  log.info({ inHand: attempts.size, graceMs }, 'draining')

  const done = new AbortController()
  const enough = AbortSignal.any([hurry, done.signal])
  await Promise.race([closed, attempts.idle(), sleep(graceMs, enough)])
  if (attempts.size > 0) log.warn({ inHand: attempts.size }, 'grace is over, aborting')
  attempts.stop()
  const told = await Promise.race([closed, sleep(AFTER_ABORT_MS, done.signal).then(() => false)])
  done.abort()
  return told
}
