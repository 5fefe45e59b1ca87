import type { AlertGroup } from '@jadwal/domain'

/** So many alerts of one rule at once; what is beyond is one more. */
const MOST = 20
const OTHERS = 'others'

/**
 * The groups of a rule, of which all beyond twenty are one: those that have an alert already go first, then
 * the largest.
 */
export function limitGroups(
  groups: readonly AlertGroup[],
  open: ReadonlySet<string>,
): AlertGroup[] {
  if (groups.length <= MOST) return [...groups]
  const rank = ({ key }: AlertGroup): number => (open.has(key) ? 0 : 1)
  const sorted = groups.toSorted((a, b) => rank(a) - rank(b) || b.count - a.count)
  const rest = sorted.slice(MOST)
  const [first] = rest
  if (!first) return sorted
  return [...sorted.slice(0, MOST), others(first, rest)]
}

function others(first: AlertGroup, rest: readonly AlertGroup[]): AlertGroup {
  const lastMs = Math.max(...rest.map((group) => group.lastMs ?? 0))
  const firstMs = Math.min(...rest.map((group) => group.firstMs ?? lastMs))
  return {
    key: OTHERS,
    subject: {},
    summary: `${rest.length} more of the same, such as: ${first.summary}`,
    count: rest.reduce((sum, { count }) => sum + count, 0),
    ...(rest.some(({ isAtLeast }) => isAtLeast === true) ? { isAtLeast: true } : {}),
    examples: rest.flatMap(({ examples }) => examples.slice(0, 1)).slice(0, 5),
    ...(lastMs > 0 ? { firstMs, lastMs } : {}),
    schedules: [...new Set(rest.flatMap(({ schedules = [] }) => schedules))].slice(0, 20),
  }
}
