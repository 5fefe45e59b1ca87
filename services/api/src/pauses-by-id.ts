import type { SchedulePauseRow } from '@jadwal/db'

/** Pauses by the schedule they are of; those of everything are of each. */
export class PausesById {
  readonly #own: Map<string | null, SchedulePauseRow[]>

  constructor(pauses: readonly SchedulePauseRow[]) {
    this.#own = new Map()
    for (const pause of pauses) {
      const list = this.#own.get(pause.schedule_id) ?? []
      list.push(pause)
      this.#own.set(pause.schedule_id, list)
    }
  }

  of(id: string | null): readonly SchedulePauseRow[] {
    const everything = this.#own.get(null) ?? []
    return id === null ? everything : [...everything, ...(this.#own.get(id) ?? [])]
  }
}
