import { type Calendars, CalendarSpec } from '@jadwal/domain'
import { type CalendarHashes, readRevisions, resolved } from './calendar-revisions.ts'
import type { Db } from './database.ts'

/**
 * The calendars of versions. Thousands of schedules name the same ones: each is fetched and parsed
 * once and shared, and so is what those have that name the same. One reader is for one load.
 */
export class CalendarReader {
  /** Null for one that does not parse: it is left out. */
  readonly #known = new Map<string, CalendarSpec | null>()
  readonly #sets = new Map<string, Calendars>()

  /** Fetches what is not known yet. `stored` are columns of versions, as JSON. */
  async fetch(db: Db, stored: Iterable<string>): Promise<void> {
    const sets = [...new Set(stored)].filter((text) => !this.#sets.has(text))
    const hashes = new Map(sets.map((text) => [text, JSON.parse(text) as CalendarHashes]))
    const wanted = [...hashes.values()].flatMap((each) => Object.values(each))
    const fetched = await readRevisions(
      db,
      wanted.filter((hash) => !this.#known.has(hash)),
    )
    for (const [hash, spec] of fetched)
      this.#known.set(hash, CalendarSpec.safeParse(spec).data ?? null)
    for (const [text, each] of hashes) this.#sets.set(text, this.#parsed(each))
  }

  /** Of a column that was fetched. */
  read(stored: string): Calendars {
    return this.#sets.get(stored) ?? {}
  }

  #parsed(hashes: CalendarHashes): Calendars {
    const calendars = Object.entries(resolved(hashes, this.#known))
    return Object.fromEntries(calendars.flatMap(([name, each]) => (each ? [[name, each]] : [])))
  }
}
