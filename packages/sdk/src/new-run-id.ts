import { newRunId as runIdOf, systemClock } from '@jadwal/domain'
import { randomFromPool } from '@jadwal/queue'

/**
 * An id for a run (a UUIDv7), for `enqueue(…, { id })`: a call that failed without an answer can be
 * repeated with it, within a day, and gives one run.
 */
export function newRunId(): string {
  return runIdOf(systemClock.now().getTime(), randomFromPool(10))
}
