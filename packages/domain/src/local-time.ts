import { MINUTE, SECOND } from './clock.ts'
import { zoneClock } from './zone-clock.ts'

/** An instant as a clock in the zone shows it, with its offset: `2026-03-29T03:30:00+02:00`. */
export function localTime(atMs: number, timezone: string): string {
  const { offsetMs } = zoneClock(timezone).stretchAt(atMs)
  const wall = new Date(atMs + offsetMs).toISOString()
  const time = atMs % SECOND === 0 ? wall.slice(0, 19) : wall.slice(0, 23)
  return time + offsetText(offsetMs)
}

function offsetText(offsetMs: number): string {
  const [hours, minutes] = new Date(Math.abs(offsetMs)).toISOString().slice(11, 19).split(':')
  const seconds = Math.abs(offsetMs) % MINUTE
  const odd = seconds === 0 ? '' : `:${String(seconds / SECOND).padStart(2, '0')}`
  return `${offsetMs < 0 ? '-' : '+'}${hours}:${minutes}${odd}`
}
