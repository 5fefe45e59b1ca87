import { SECOND } from './clock.ts'
import type { LoadGroup, LoadPeriod } from './load-groups.ts'

/** Additions between two rests of whoever does the work. */
const STRIDE = 100_000

/**
 * How many runs start in each second of a period, each as much later than its tick as its schedule's
 * jitter makes it wait; `jitterOf` says what the jitter were. Done in steps.
 */
export function* countStarts(
  groups: Iterable<LoadGroup>,
  period: LoadPeriod,
  jitterOf: (group: LoadGroup) => number = (group) => group.jitterMs,
): Generator<undefined, Uint32Array, undefined> {
  const { fromMs, toMs } = period
  const seconds = new Uint32Array((toMs - fromMs) / SECOND)
  let steps = 0
  for (const group of groups) {
    const waits = [...groupWaits(group, jitterOf(group))]
    steps += group.members.length
    for (const tick of group.ticks) {
      for (const [waitMs, count] of waits) {
        const second = Math.floor((tick + waitMs - fromMs) / SECOND)
        if (second >= 0 && second < seconds.length) seconds[second] = (seconds[second] ?? 0) + count
      }
      if ((steps += waits.length) >= STRIDE) {
        steps = 0
        yield
      }
    }
  }
  return seconds
}

/**
 * How many members of a group wait how long under a jitter. Where all ticks lie on whole seconds, so
 * do these: what a wait has beyond does not carry it into another second.
 */
export function groupWaits(group: LoadGroup, jitterMs: number): Map<number, number> {
  if (jitterMs === 0) return new Map([[0, group.members.length]])
  const unit = group.ticks.every((tick) => tick % SECOND === 0) ? SECOND : 1
  const waits = new Map<number, number>()
  for (const { seed } of group.members) {
    const waitMs = Math.floor((seed % jitterMs) / unit) * unit
    waits.set(waitMs, (waits.get(waitMs) ?? 0) + 1)
  }
  return waits
}

/** What seconds hold, put together by so many. */
export function perBucket(seconds: Uint32Array, bucketMs: number): Uint32Array {
  const size = bucketMs / SECOND
  const buckets = new Uint32Array(Math.ceil(seconds.length / size))
  for (const [at, count] of seconds.entries()) {
    const bucket = Math.floor(at / size)
    buckets[bucket] = (buckets[bucket] ?? 0) + count
  }
  return buckets
}

export function highest(counts: Uint32Array): number {
  let most = 0
  for (const count of counts) if (count > most) most = count
  return most
}
