export type ReportKind = 'hourly' | 'daily' | 'monthly'

/** From inclusive, to exclusive. */
export interface Period {
  from: Date
  to: Date
}

interface WallTime {
  year: number
  /** 1 to 12. */
  month: number
  day: number
  hour: number
}

/** The last whole hour, day or month of a time zone that had ended at an instant. */
export function lastPeriod(kind: ReportKind, at: Date, timezone: string): Period {
  const now = wallTime(at, timezone)
  const { year, month, day } = now
  switch (kind) {
    case 'hourly': {
      const to = startOfHour(at, timezone)
      return { from: new Date(to.getTime() - 3_600_000), to }
    }
    case 'daily':
      return {
        from: instant({ year, month, day: day - 1, hour: 0 }, timezone),
        to: instant({ year, month, day, hour: 0 }, timezone),
      }
    case 'monthly':
      return {
        from: instant({ year, month: month - 1, day: 1, hour: 0 }, timezone),
        to: instant({ year, month, day: 1, hour: 0 }, timezone),
      }
  }
}

/** Zones differ by parts of an hour, so a whole hour of the zone is no whole hour of UTC everywhere. */
function startOfHour(at: Date, timezone: string): Date {
  const intoHour = positiveRemainder(at.getTime() + offsetMs(at, timezone), 3_600_000)
  return new Date(at.getTime() - intoHour)
}

/** The instant of a wall time; day 0 and month 0 are the last ones of what is before. */
function instant({ year, month, day, hour }: WallTime, timezone: string): Date {
  const asUtc = Date.UTC(year, month - 1, day, hour)
  // Twice: the offset at the first guess may be that of the other side of a clock change.
  const guess = new Date(asUtc - offsetMs(new Date(asUtc), timezone))
  return new Date(asUtc - offsetMs(guess, timezone))
}

function offsetMs(at: Date, timezone: string): number {
  const { year, month, day, hour, minute, second } = parts(at, timezone)
  const wall = Date.UTC(year, month - 1, day, hour, minute, second)
  return wall - Math.floor(at.getTime() / 1_000) * 1_000
}

function wallTime(at: Date, timezone: string): WallTime {
  return parts(at, timezone)
}

function parts(at: Date, timezone: string): WallTime & { minute: number; second: number } {
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
  const found = Object.fromEntries(
    format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
  )
  const number = (type: Intl.DateTimeFormatPartTypes): number => found[type] ?? 0
  return {
    year: number('year'),
    month: number('month'),
    day: number('day'),
    hour: number('hour'),
    minute: number('minute'),
    second: number('second'),
  }
}

function positiveRemainder(value: number, by: number): number {
  return ((value % by) + by) % by
}
