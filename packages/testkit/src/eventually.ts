import { setTimeout as delay } from 'node:timers/promises'

/**
 * Repeats `fact` until it no longer throws and gives back what it returned. After `timeoutMs`
 * (default 30 s, as a busy machine may need) it throws what `fact` threw last.
 */
export async function eventually<T>(
  fact: () => Promise<T> | T,
  options: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const { timeoutMs = 30_000, everyMs = 25 } = options
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await fact()
    } catch (error) {
      if (performance.now() >= deadline) throw error
      await delay(everyMs)
    }
  }
}
