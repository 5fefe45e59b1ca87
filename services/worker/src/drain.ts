import type { RunWorker } from '@jadwal/queue'
import { type Logger, sleep } from '@jadwal/runtime'
import type { AttemptsInHand } from './attempts-in-hand.ts'

/** What handlers get after the abort to end (1 s, see Attempt), and Redis to be told. */
const AFTER_ABORT_MS = 3_000
const LOOK_MS = 50

export interface DrainDeps {
  workers: readonly RunWorker[]
  attempts: AttemptsInHand
  graceMs: number
  /** Aborts when there shall be no grace. */
  hurry: AbortSignal
  log: Logger
}

/**
 * Takes no more runs, lets those in hand end within the grace and waits as long for their outcomes to
 * be written, as Redis may be starting again itself. Then aborts attempts and puts their runs back for
 * other workers. Returns false when Redis could not be told of all in time: the rest is rescued by
 * others once its locks have expired.
 */
export async function drain(deps: DrainDeps): Promise<boolean> {
  const { workers, attempts, graceMs, hurry, log } = deps
  const closed = Promise.all(workers.map((worker) => worker.close())).then(() => true)
  log.info({ inHand: attempts.size, graceMs }, 'draining')

  const done = new AbortController()
  const enough = AbortSignal.any([hurry, done.signal])
  const graceOver = sleep(graceMs, enough)
  const isBusy = (): boolean => workers.some((worker) => worker.inHand > 0)
  const closedSoon = async (): Promise<boolean> =>
    Promise.race([closed, sleep(AFTER_ABORT_MS, done.signal).then(() => false)])
  /** BullMQ can't close a connection that is being made again, so that it is closed is not waited for. */
  const outcomesWritten = async (): Promise<void> => {
    while (isBusy() && !enough.aborted) await sleep(LOOK_MS, enough)
  }
  try {
    // One that was just being fetched may still come.
    if (!isBusy()) {
      const isClosed = await closedSoon()
      if (isClosed || !isBusy()) return isClosed
    }
    await Promise.race([closed, outcomesWritten(), graceOver])
    if (attempts.size > 0) log.warn({ inHand: attempts.size }, 'grace is over, aborting')
    attempts.stop()
    return await closedSoon()
  } finally {
    attempts.stop()
    done.abort()
  }
}
