import { setImmediate } from 'node:timers/promises'
import pLimit from 'p-limit'

/** Resolves when it is one's turn. */
export type Turn = () => Promise<void>

/**
 * Gives each turn of the event loop to one of those who wait for theirs: however many work at once, other
 * requests wait for the slice of one.
 */
export function takeTurns(): Turn {
  const oneByOne = pLimit(1)
  return async () => await oneByOne(async () => await setImmediate())
}
