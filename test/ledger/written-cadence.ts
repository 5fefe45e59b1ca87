import type { Cadence } from './expected-schedule.ts'

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000 } as const

/** The cadence of a schedule as its author wrote it, read anew. */
export function writtenCadence(spec: Readonly<Record<string, unknown>>): Cadence {
  const { every, offset, cron, timezone = 'UTC' } = spec
  if (typeof cron === 'string') return { cron, timezone: String(timezone) }
  return { everyMs: milliseconds(every), offsetMs: offset === undefined ? 0 : milliseconds(offset) }
}

function milliseconds(text: unknown): number {
  const [, amount, unit] = /^(\d+)([smh])$/.exec(String(text)) ?? []
  if (amount === undefined) throw new Error(`${String(text)}: a number and s, m or h`)
  return Number(amount) * UNITS[unit as keyof typeof UNITS]
}
