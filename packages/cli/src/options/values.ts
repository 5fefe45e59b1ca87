import { type Clock, parseDurationMs } from '@jadwal/domain'
import { InvalidArgumentError } from 'commander'

/** A whole number in a range, for commander. */
export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= from && value <= to) return value
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`)
  }
}

/** Runs a second. */
export function rate(text: string): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= 1_000) return value
  throw new InvalidArgumentError('It must be runs a second, above 0 and at most 1000.')
}

/** Milliseconds. */
export function durationMs(text: string): number {
  const ms = parseDurationMs(text)
  if (ms !== undefined && Number.isSafeInteger(ms)) return ms
  throw new InvalidArgumentError('It must be a whole number and ms, s, m, h or d, such as 90s.')
}

export function oneOf(...allowed: readonly string[]): (text: string) => string {
  return (text) => {
    if (allowed.includes(text)) return text
    throw new InvalidArgumentError(`It must be one of ${allowed.join(', ')}.`)
  }
}

/** An option that may be given again and again. */
export function append(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

export function label(text: string, before: readonly string[] = []): string[] {
  if (/^[^:]+:/.test(text)) return [...before, text]
  throw new InvalidArgumentError('It must be name:value, such as team:billing.')
}

const WITH_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/
const LOCAL = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?$/

/**
 * Reads an instant as people write it: ISO 8601 with an offset; without one by the clock of the host;
 * `now`; or a duration, which is that long ago (`past`) or from now (`future`). Gives ISO 8601 in UTC.
 */
export function instant(
  clock: Pick<Clock, 'now'>,
  direction: 'past' | 'future',
): (text: string) => string {
  return (text) => {
    const nowMs = clock.now().getTime()
    if (text === 'now') return new Date(nowMs).toISOString()
    const ms = parseDurationMs(text)
    const at = ms === undefined ? readDate(text) : nowMs + (direction === 'past' ? -ms : ms)
    if (at !== undefined && Math.abs(at) <= 8.64e15) return new Date(at).toISOString()
    const example = direction === 'past' ? '2h (ago)' : '2h (from now)'
    throw new InvalidArgumentError(
      `It must be an instant such as 2026-12-01T08:00:00Z, 2026-12-01 08:00 (local), ${example} or now.`,
    )
  }
}

function readDate(text: string): number | undefined {
  if (!WITH_OFFSET.test(text) && !LOCAL.test(text)) return undefined
  // A date alone is read as UTC by Date; a person means the day here.
  const full = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text.replace(' ', 'T')
  const at = new Date(full).getTime()
  return Number.isNaN(at) ? undefined : at
}
