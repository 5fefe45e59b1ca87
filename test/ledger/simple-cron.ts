/**
 * Cron, worked out anew by walking through the time and reading a real clock: numbers, lists, ranges
 * and steps. Slow, and of no use around a clock change when the hour field is not `*`; it throws then.
 */
const LIMITS = [
  { name: 'second', least: 0, most: 59 },
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12 },
  { name: 'weekday', least: 0, most: 7 },
] as const
const SECOND = 1_000
const MINUTE = 60_000

/** The instants in (fromMs, untilMs] that an expression of 5 or 6 fields names. */
export function cronTicks(
  { cron, timezone }: { cron: string; timezone: string },
  fromMs: number,
  untilMs: number,
): number[] {
  const written = cron.trim().split(/\s+/)
  const step = written.length === 6 ? SECOND : MINUTE
  const texts = written.length === 5 ? ['0', ...written] : written
  if (texts.length !== LIMITS.length) throw new Error(`${cron}: 5 or 6 fields`)
  const fields = texts.map((text, at) => values(text, at))
  const read = wallClock(timezone)
  if (!texts[2]?.startsWith('*') && offset(read, fromMs) !== offset(read, untilMs))
    throw new Error(`${cron}: the clock of ${timezone} changes in this period`)
  const eitherDay = !texts[3]?.startsWith('*') && !texts[5]?.startsWith('*')
  const ticks: number[] = []
  for (let at = Math.floor(fromMs / step) * step + step; at <= untilMs; at += step) {
    const parts = read(at)
    const [second, minute, hour, day, month, weekday] = parts.map((part, n) => fields[n]?.has(part))
    const today = eitherDay ? day || weekday : day && weekday
    if (second && minute && hour && month && today) ticks.push(at)
  }
  return ticks
}

function values(text: string, field: number): Set<number> {
  const { name, least, most } = LIMITS[field] ?? { name: '', least: 0, most: 0 }
  const all = new Set<number>()
  for (const part of text.split(',')) {
    const match = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part)
    if (!match) throw new Error(`${part}: not a ${name} that this reads`)
    const [, low, high, step] = match
    const from = low === undefined ? least : Number(low)
    const single = low !== undefined && high === undefined && step === undefined
    const to = single ? from : Number(high ?? most)
    for (let value = from; value <= to; value += Number(step ?? 1))
      all.add(name === 'weekday' ? value % 7 : value)
  }
  return all
}

type WallClock = (atMs: number) => number[]

/** Second, minute, hour, day, month and weekday of an instant. */
function wallClock(timezone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (atMs) => {
    const parts: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(atMs)) parts[type] = Number(value)
    const { second = 0, minute = 0, hour = 0, day = 0, month = 0, year = 0 } = parts
    const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay()
    return [second, minute, hour, day, month, weekday]
  }
}

/** How far a zone's clock is from UTC, ms, within a day. */
function offset(read: WallClock, atMs: number): number {
  const [second = 0, minute = 0, hour = 0] = read(atMs)
  const day = 24 * 60 * MINUTE
  const reads = (hour * 60 + minute) * MINUTE + second * SECOND
  return (((reads - Math.floor(atMs / SECOND) * SECOND) % day) + day) % day
}
