import { setTimeout as wait } from 'node:timers/promises'

const CHECK_MS = 3_000

/** Says what keeps a service from its work, one sentence each; an empty list when nothing does. */
export type ReadyCheck = () => Promise<readonly string[]> | readonly string[]

/** Asks a check and waits for its answer for 3 s at most; one that fails or is late is a reason itself. */
export async function notReadyReasons(check: ReadyCheck): Promise<readonly string[]> {
  const cancel = new AbortController()
  try {
    return await Promise.race([
      check(),
      wait(CHECK_MS, ['the check got no answer in time'], { signal: cancel.signal }),
    ])
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    cancel.abort()
  }
}
