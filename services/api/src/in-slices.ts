import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@jadwal/domain'

/** Other requests wait no longer than this for a long piece of work. */
const SLICE_MS = 10

/** Does work that comes in steps, and lets others have their turn in between. */
export async function inSlices<T>(
  work: Generator<undefined, T, undefined>,
  clock: Clock,
): Promise<T> {
  let since = clock.monotonicMs()
  let step = work.next()
  while (step.done !== true) {
    if (clock.monotonicMs() - since > SLICE_MS) {
      await setImmediate()
      since = clock.monotonicMs()
    }
    step = work.next()
  }
  return step.value
}
