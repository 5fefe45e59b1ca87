import { cadenceIntervalMs } from './cadence-interval.ts'
import { HOUR, MINUTE, SECOND } from './clock.ts'
import { countStarts, highest } from './load-ahead.ts'
import type { LoadGroup, LoadPeriod } from './load-groups.ts'

export interface JitterProposal {
  /** What jitter to give to which groups. */
  jitters: ReadonlyMap<LoadGroup, number>
  /** The starts in each second if it is done. */
  seconds: Uint32Array
}

const LADDER = [
  ...[2, 5, 10, 20, 30, 45].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  HOUR,
]
/** More than anybody would carry out; what is left out is left as it is. */
const MOST_GROUPS = 1_000
/** Fewer runs in one second than this are no peak. */
const LEVEL = 10
/** What a harder try must bring to be worth its jitter. */
const WORTH = 0.9

/**
 * Finds jitters that flatten the fullest seconds: for schedules without one, as short as will do, and
 * shorter than their shortest interval. What they would bring is counted, not estimated. Undefined when
 * nothing is gained. Done in steps.
 */
export function* proposeJitter(
  groups: readonly LoadGroup[],
  seconds: Uint32Array,
  period: LoadPeriod,
): Generator<undefined, JitterProposal | undefined, undefined> {
  const piles = yield* largestPiles(groups, seconds, period)
  let best: JitterProposal | undefined
  let peak = highest(seconds)
  for (let level = peak / 2; level >= LEVEL / 2; level /= 2) {
    const jitters = jittersFor(piles, level)
    if (jitters.size === 0) continue
    const tried = yield* countStarts(
      groups,
      period,
      (group) => jitters.get(group) ?? group.jitterMs,
    )
    if (highest(tried) > peak * WORTH) break
    peak = highest(tried)
    best = { jitters, seconds: tried }
  }
  return best
}

interface Pile {
  group: LoadGroup
  /** What starts in the fullest second that the group ticks in. */
  size: number
}

function* largestPiles(
  groups: readonly LoadGroup[],
  seconds: Uint32Array,
  { fromMs }: LoadPeriod,
): Generator<undefined, Pile[], undefined> {
  const piles: Pile[] = []
  for (const group of groups) {
    if (group.jitterMs > 0) continue
    let size = 0
    for (const tick of group.ticks)
      size = Math.max(size, seconds[Math.floor((tick - fromMs) / SECOND)] ?? 0)
    if (size >= LEVEL) piles.push({ group, size })
    yield
  }
  return piles
    .toSorted((a, b) => b.size - a.size || b.group.members.length - a.group.members.length)
    .slice(0, MOST_GROUPS)
}

/** The shortest jitters that spread each pile so thin that no second holds more than the level. */
function jittersFor(piles: readonly Pile[], level: number): Map<LoadGroup, number> {
  const jitters = new Map<LoadGroup, number>()
  for (const { group, size } of piles) {
    if (size <= level) continue
    const intervalMs = cadenceIntervalMs(group.cadence)
    const possible = LADDER.filter((jitter) => jitter < intervalMs)
    const jitter = possible.find((each) => size / (each / SECOND) <= level) ?? possible.at(-1)
    if (jitter !== undefined) jitters.set(group, jitter)
  }
  return jitters
}
