import { SECOND } from '@jadwal/domain'
import { sleep } from '@jadwal/runtime'
import pLimit from 'p-limit'
import { askHistory } from './ask.ts'
import { Problem } from './problem.ts'

/** Those who wait longer than this line, or for so long, are better told. */
const MOST_WAITING = 100
const LONGEST_WAIT_MS = 5 * SECOND

/** Does a search of the history when it is its turn. Rejects with a `Problem` when Postgres is away, as `askHistory`. */
export type SearchGate = <T>(search: () => Promise<T>) => Promise<T>

/**
 * Lets half of the connections to Postgres be taken by searches, which anybody may ask for and which
 * take longest; the others are left to tokens, alerts and changes. Rejects with a `Problem` where too
 * many wait, and when a turn does not come within `longestWaitMs`.
 */
export function searchGate(connections: number, longestWaitMs = LONGEST_WAIT_MS): SearchGate {
  const limit = pLimit(Math.max(1, Math.floor(connections / 2)))
  return async (search) => {
    if (limit.pendingCount >= MOST_WAITING)
      throw tryLater(`${MOST_WAITING} searches of the history wait for their turn`)
    const waiting = new AbortController()
    let hasGone = false
    const turn = limit(async () => {
      waiting.abort()
      if (hasGone) throw late()
      return await askHistory(search)
    })
    const patience = sleep(longestWaitMs, waiting.signal).then(() => {
      if (waiting.signal.aborted) return turn
      hasGone = true
      throw late()
    })
    return await Promise.race([turn, patience])
  }
}

function late(): Problem {
  return tryLater('the turn of this search of the history has not come in time')
}

function tryLater(why: string): Problem {
  return new Problem('try-later', {
    detail: `${why}: try again later.`,
    headers: { 'Retry-After': '5' },
  })
}
