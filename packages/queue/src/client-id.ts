import { DAY, HOUR, type RunId, runIdTimeMs } from '@jadwal/domain'

/**
 * What is wrong with the id that a client made for a run, a lower-case UUIDv7; undefined when nothing
 * is. Its claim is kept for a little more than a day, so an older one could start its run twice.
 */
export function clientIdProblem(id: string, nowMs: number): string | undefined {
  const ageMs = nowMs - runIdTimeMs(id as RunId)
  if (ageMs > DAY) return 'must be at most a day old: make one with newRunId() for each run'
  if (ageMs < -HOUR) return 'must not be of the future: make one with newRunId() for each run'
  return undefined
}
