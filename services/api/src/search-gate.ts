import pLimit from 'p-limit'
import { askHistory } from './ask.ts'
import { Problem } from './problem.ts'

/** Those who wait longer than this line are better told at once. */
const MOST_WAITING = 100

/** Does a search of the history when it is its turn. Rejects with a `Problem` when Postgres is away, as `askHistory`. */
export type SearchGate = <T>(search: () => Promise<T>) => Promise<T>

/**
 * Lets half of the connections to Postgres be taken by searches, which anybody may ask for and which
 * take longest; the others are left to tokens, alerts and changes. Rejects with a `Problem` where too
 * many wait.
 */
export function searchGate(connections: number): SearchGate {
  const limit = pLimit(Math.max(1, Math.floor(connections / 2)))
  return async (search) => {
    if (limit.pendingCount >= MOST_WAITING) {
      throw new Problem('try-later', {
        detail: `${MOST_WAITING} searches of the history wait for their turn: try again later.`,
        headers: { 'Retry-After': '5' },
      })
    }
    return await limit(() => askHistory(search))
  }
}
