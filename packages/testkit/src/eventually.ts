import { setTimeout as delay } from 'node:timers/promises'

const SOONEST_MS = 25
const LATEST_MS = 250

/**
 * Repeats `fact` until it no longer throws and gives back what it returned. After `timeoutMs`
 * (default 30 s, as a busy machine may need) it throws what `fact` threw last. It looks each `everyMs`;
 * by default more and more seldom, as what is long in coming need not be seen at once.
 */
export async function eventually<T>(
  fact: () => Promise<T> | T,
  options: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const { timeoutMs = 30_000, everyMs } = options
  const begunMs = performance.now()
  for (;;) {
    try {
      return await fact()
    } catch (error) {
      const waitedMs = performance.now() - begunMs
      if (waitedMs >= timeoutMs) throw error
      await delay(everyMs ?? Math.min(Math.max(waitedMs / 10, SOONEST_MS), LATEST_MS))
    }
  }
}
