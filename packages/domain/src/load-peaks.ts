import type { Cadence } from './cadence.ts'
import { groupWaits, perBucket } from './load-ahead.ts'
import type { LoadGroup, LoadPeriod } from './load-groups.ts'

/** A bucket that holds more than others, and who makes it so. */
export interface LoadPeak {
  atMs: number
  ticks: number
  schedules: number
  /** Those that bring the most, with some of their schedules. */
  cadences: { cadence: Cadence; ticks: number; schedules: number; names: string[] }[]
}

const CADENCES = 5
const NAMES = 5
/** Groups between two rests of whoever does the work. */
const STRIDE = 20

/** The buckets that hold the most, the fullest first. Done in steps. */
export function* loadPeaks(
  groups: readonly LoadGroup[],
  seconds: Uint32Array,
  { period, bucketMs, count }: { period: LoadPeriod; bucketMs: number; count: number },
): Generator<undefined, LoadPeak[], undefined> {
  const peaks: LoadPeak[] = []
  const buckets = perBucket(seconds, bucketMs)
  for (const at of fullest(buckets, count)) {
    const atMs = period.fromMs + at * bucketMs
    const parts: LoadPeak['cadences'] = []
    for (const [nth, group] of groups.entries()) {
      parts.push(...partOf(group, atMs, atMs + bucketMs))
      if (nth % STRIDE === 0) yield
    }
    peaks.push({
      atMs,
      ticks: buckets[at] ?? 0,
      schedules: parts.reduce((sum, part) => sum + part.schedules, 0),
      cadences: parts.toSorted((a, b) => b.ticks - a.ticks).slice(0, CADENCES),
    })
  }
  return peaks
}

/** Which counts are the highest, of equal ones the first. */
function fullest(counts: Uint32Array, most: number): number[] {
  const found: { at: number; count: number }[] = []
  for (const [at, count] of counts.entries()) {
    if (count === 0 || (found.length === most && count <= (found.at(-1)?.count ?? 0))) continue
    const place = found.findIndex((each) => each.count < count)
    found.splice(place === -1 ? found.length : place, 0, { at, count })
    found.length = Math.min(found.length, most)
  }
  return found.map(({ at }) => at)
}

/** What one group brings to the time from one instant to another. */
function partOf(group: LoadGroup, fromMs: number, toMs: number): LoadPeak['cadences'] {
  const first = firstAtOrAfter(group.ticks, fromMs - group.jitterMs)
  const ticks = group.ticks.subarray(first, firstAtOrAfter(group.ticks, toMs))
  if (ticks.length === 0) return []
  const isIn = (waitMs: number) => (tick: number) => tick + waitMs >= fromMs && tick + waitMs < toMs
  let all = 0
  for (const [waitMs, members] of groupWaits(group, group.jitterMs))
    all += ticks.filter(isIn(waitMs)).length * members
  if (all === 0) return []
  const starting = group.members.filter(({ seed }) =>
    ticks.some(isIn(group.jitterMs === 0 ? 0 : seed % group.jitterMs)),
  )
  return [
    {
      cadence: group.cadence,
      ticks: all,
      schedules: starting.length,
      names: starting.slice(0, NAMES).map(({ name }) => name),
    },
  ]
}

function firstAtOrAfter(ticks: Float64Array, atMs: number): number {
  let [low, high] = [0, ticks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ticks[middle] ?? Infinity) < atMs) low = middle + 1
    else high = middle
  }
  return low
}
