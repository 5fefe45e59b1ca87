import { clockChanges } from './real-clock.ts'

/** A stretch of real time around a change of a zone's clock, or around nothing at all. */
export interface ClockChange {
  timezone: string
  atMs: number
}

/** Zones in the north and in the south, with changes of an hour, half an hour, two hours, and none. */
const OF_TODAY = [
  'Africa/Cairo', // at midnight
  'Africa/Casablanca', // back for the month of Ramadan
  'America/Havana', // at midnight
  'America/New_York',
  'America/Nuuk', // the evening before
  'America/Santiago', // at midnight
  'America/St_Johns',
  'Antarctica/Troll', // two hours
  'Asia/Beirut', // at midnight
  'Asia/Gaza',
  'Asia/Jerusalem',
  'Atlantic/Azores', // from -1 to UTC
  'Australia/Lord_Howe', // half an hour
  'Australia/Sydney',
  'Europe/Berlin',
  'Europe/Dublin', // its winter time is the exception
  'Europe/London',
  'Pacific/Chatham',
  'Pacific/Norfolk',
]

const OF_OLD: [timezone: string, fromYear: number, untilYear: number][] = [
  ['Africa/Casablanca', 2018, 2019],
  ['America/Asuncion', 2024, 2025],
  ['America/Caracas', 2016, 2017], // half an hour forward
  ['America/Noronha', 2000, 2001], // forward for a week
  ['America/Sao_Paulo', 2018, 2020], // at midnight
  ['Antarctica/Casey', 2018, 2019], // three hours
  ['Asia/Kathmandu', 1985, 1987], // a quarter of an hour
  ['Asia/Pyongyang', 2015, 2019], // half an hour
  ['Asia/Tehran', 2021, 2023], // at midnight
  ['Europe/Moscow', 2010, 2015],
  ['Pacific/Apia', 2010, 2013], // skipped 2011-12-30
  ['Pacific/Kiritimati', 1994, 1996], // skipped 1994-12-31
  ['Pacific/Kwajalein', 1993, 1994], // skipped 1993-08-21
]

const QUIET: ClockChange[] = [
  { timezone: 'UTC', atMs: Date.UTC(2027, 11, 31) },
  { timezone: 'Asia/Kathmandu', atMs: Date.UTC(2026, 1, 28) },
  { timezone: 'Pacific/Apia', atMs: Date.UTC(2026, 6, 1) },
  { timezone: 'America/Asuncion', atMs: Date.UTC(2027, 2, 28) },
]

/** Every change of 2026 and 2027 in the zones above, changes of the past, and some quiet days. */
export function knownChanges(): ClockChange[] {
  const years = [...OF_TODAY.map((timezone) => [timezone, 2026, 2028] as const), ...OF_OLD]
  const changes = years.flatMap(([timezone, from, until]) => changesOf(timezone, from, until))
  return [...changes, ...QUIET]
}

/** Every change of every zone in some years. */
export function allChanges(fromYear: number, untilYear: number): ClockChange[] {
  return Intl.supportedValuesOf('timeZone').flatMap((timezone) =>
    changesOf(timezone, fromYear, untilYear),
  )
}

function changesOf(timezone: string, fromYear: number, untilYear: number): ClockChange[] {
  const changes = clockChanges(timezone, Date.UTC(fromYear), Date.UTC(untilYear))
  return changes.map((atMs) => ({ timezone, atMs }))
}
