import { z } from 'zod'

/** What a look at one part of a system has found. */
export const Finding = z.object({
  /** Such as `redis.eviction`. */
  check: z.string(),
  /** `broken`: it does not work, or data is at risk. `unknown`: it could not be looked at. */
  status: z.enum(['ok', 'warning', 'broken', 'unknown']),
  /** What is so, for people. */
  found: z.string(),
  /** What puts it right, where it is not ok. */
  cure: z.string().optional(),
})
export type Finding = z.infer<typeof Finding>

/** A finding that is `status` when something is wrong, and ok otherwise. */
export function findingIf(
  isWrong: boolean,
  status: 'warning' | 'broken',
  { check, found, cure }: { check: string; found: string; cure: string },
): Finding {
  return isWrong ? { check, status, found, cure } : { check, status: 'ok', found }
}

/** Whether a version such as `7.2.4` is at least another, by its numbers. */
export function isVersionAtLeast(version: string, least: string): boolean {
  const [own, needed] = [version, least].map((text) => text.split('.').map(Number))
  for (const [at, number] of (needed ?? []).entries()) {
    const mine = own?.[at] ?? 0
    if (mine !== number) return mine > number
  }
  return true
}

/** Clocks that differ by more than this lead to times in the history that nobody expects. */
export const MOST_SKEW_MS = 500
