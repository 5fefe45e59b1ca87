import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@jadwal/domain'

/** Other requests wait no longer than this for a long piece of work. */
const SLICE_MS = 10

/** Does work that comes in steps, and lets others have their turn in between, until it is its `turn` again. */
export async function inSlices<T>(
  work: Generator<undefined, T, undefined>,
  clock: Clock,
  turn: () => Promise<void> = setImmediate,
): Promise<T> {
  let since = clock.monotonicMs()
  let step = work.next()
  while (step.done !== true) {
    if (clock.monotonicMs() - since > SLICE_MS) {
      await turn()
      since = clock.monotonicMs()
    }
    step = work.next()
  }
  return step.value
}
