import { type Clock, DAY, HOUR, localTime, MINUTE, SECOND } from '@jadwal/domain'

/** Writes instants for people: by the clock of their zone, with its offset. */
export class Times {
  readonly #timezone: string
  readonly #clock: Clock

  constructor({ timezone, clock }: { timezone: string; clock: Clock }) {
    this.#timezone = timezone
    this.#clock = clock
  }

  /** `2026-12-01 07:00:05+07:00`; nothing for none. */
  at(instant: string | null | undefined): string {
    if (instant == null) return ''
    const ms = Date.parse(instant)
    if (Number.isNaN(ms)) return instant
    const text = localTime(Math.floor(ms / SECOND) * SECOND, this.#timezone).replace('T', ' ')
    return this.#timezone === 'UTC' ? text.replace('+00:00', 'Z') : text
  }

  /** `3m ago`, `in 5h`. */
  relative(instant: string | null | undefined): string {
    if (instant == null) return ''
    const ms = Date.parse(instant) - this.#clock.now().getTime()
    if (Number.isNaN(ms)) return ''
    const length = roughly(Math.abs(ms))
    return ms > 0 ? `in ${length}` : `${length} ago`
  }

  /** Both. */
  full(instant: string | null | undefined): string {
    return instant == null ? '' : `${this.at(instant)} (${this.relative(instant)})`
  }
}

const UNITS = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'm'],
] as const

/** A length of time in one or two units: `1.5s`, `3m 20s`, `2d 4h`. */
export function roughly(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)}ms`
  if (ms < MINUTE) return `${Math.floor(ms / 100) / 10}s`
  for (const [unitMs, unit] of UNITS) {
    if (ms < unitMs) continue
    const smaller = unitMs === DAY ? HOUR : unitMs === HOUR ? MINUTE : SECOND
    const rest = Math.floor((ms % unitMs) / smaller)
    const restUnit = unitMs === DAY ? 'h' : unitMs === HOUR ? 'm' : 's'
    return `${Math.floor(ms / unitMs)}${unit}${rest === 0 ? '' : ` ${rest}${restUnit}`}`
  }
  return ''
}

/** How long something took, or has been going on; nothing when it has not begun. */
export function between(from: string | null | undefined, until: string | null | undefined): string {
  return from == null || until == null ? '' : roughly(Date.parse(until) - Date.parse(from))
}
