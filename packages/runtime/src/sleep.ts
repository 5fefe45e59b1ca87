import { setTimeout as wait } from 'node:timers/promises'

const LONGEST_MS = 2 ** 31 - 1

/** Resolves after `ms`, or as soon as the signal aborts. Never rejects. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  const boundedMs = Math.min(Math.max(0, ms), LONGEST_MS)
  await wait(boundedMs, undefined, signal ? { signal } : {}).catch((error: unknown) => {
    if (!signal?.aborted) throw error
  })
}
