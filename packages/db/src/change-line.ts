import type { Kysely } from 'kysely'
import type { Database } from './database.ts'

/** Connections of a pool that changes of schedules hold: one for what goes on, one for the next. */
const SEATS = 2
const MOST_IN_LINE = 20

/** The line of changes before a pool is full, or somebody in it has lost patience. */
export class LineClosedError extends Error {
  override name = 'LineClosedError'
}

interface Waiting {
  admit: () => void
  refuse: (error: LineClosedError) => void
}

/**
 * Where changes of schedules wait for each other without a connection: whoever waits for the lock in
 * Postgres holds one of the pool, and reads need them.
 */
class ChangeLine {
  #seats = SEATS
  readonly #waiting: Waiting[] = []

  /** Throws LineClosedError. */
  async enter(): Promise<void> {
    if (this.#seats > 0) {
      this.#seats -= 1
      return
    }
    if (this.#waiting.length >= MOST_IN_LINE) throw new LineClosedError('the line is full')
    await new Promise<void>((admit, refuse) => this.#waiting.push({ admit, refuse }))
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next) next.admit()
    else this.#seats += 1
  }

  /** Sends all who wait away: the change before them takes too long. */
  disperse(): void {
    for (const { refuse } of this.#waiting.splice(0))
      refuse(new LineClosedError('the change before took too long'))
  }
}

const lines = new WeakMap<Kysely<Database>, ChangeLine>()

export function lineOf(db: Kysely<Database>): ChangeLine {
  const line = lines.get(db) ?? new ChangeLine()
  lines.set(db, line)
  return line
}
