import fc from 'fast-check'

/** An expression together with what it means, told without any parsing. */
export interface WrittenCron {
  expression: string
  hourStar: boolean
  matches: (wallMs: number) => boolean
}

interface Written {
  text: string
  matches: (value: number) => boolean
}

interface WrittenDay {
  text: string
  star: boolean
  matches: (date: Date) => boolean
}

/** Any expression of five fields, weighted towards the hours in which clocks change. */
export const writtenCron: fc.Arbitrary<WrittenCron> = fc
  .record({
    minute: field(0, 59),
    hour: fc.oneof(field(0, 23), field(0, 4)),
    monthDay: monthDay(),
    month: fc.oneof(fc.constant(star()), field(1, 12)),
    weekDay: weekDay(),
  })
  .map(({ minute, hour, monthDay: day, month, weekDay: weekday }) => ({
    expression: [minute, hour, day, month, weekday].map(({ text }) => text).join(' '),
    hourStar: hour.text.startsWith('*'),
    matches: (wallMs: number) => {
      const date = new Date(wallMs)
      const either = !day.star && !weekday.star
      const days = [day.matches(date), weekday.matches(date)]
      return (
        minute.matches(date.getUTCMinutes()) &&
        hour.matches(date.getUTCHours()) &&
        month.matches(date.getUTCMonth() + 1) &&
        (either ? days.some(Boolean) : days.every(Boolean))
      )
    },
  }))

function star(): Written {
  return { text: '*', matches: () => true }
}

function atom(min: number, max: number): fc.Arbitrary<Written> {
  const value = fc.integer({ min, max })
  const step = fc.integer({ min: 1, max: 12 })
  const range = fc.tuple(value, value).map((pair) => pair.toSorted((a, b) => a - b))
  return fc.oneof(
    value.map((only) => ({ text: `${only}`, matches: (v: number) => v === only })),
    range.map(([from = 0, to = 0]) => ({
      text: `${from}-${to}`,
      matches: (v: number) => v >= from && v <= to,
    })),
    fc.tuple(range, step).map(([[from = 0, to = 0], by]) => ({
      text: `${from}-${to}/${by}`,
      matches: (v: number) => v >= from && v <= to && (v - from) % by === 0,
    })),
  )
}

function field(min: number, max: number): fc.Arbitrary<Written> {
  return fc.oneof(
    fc.constant(star()),
    fc.integer({ min: 1, max: 20 }).map((by) => ({
      text: `*/${by}`,
      matches: (v: number) => (v - min) % by === 0,
    })),
    list(atom(min, max)),
  )
}

function list(atoms: fc.Arbitrary<Written>): fc.Arbitrary<Written> {
  return fc.array(atoms, { minLength: 1, maxLength: 3 }).map((some) => ({
    text: some.map(({ text }) => text).join(','),
    matches: (v: number) => some.some(({ matches }) => matches(v)),
  }))
}

function monthDay(): fc.Arbitrary<WrittenDay> {
  const special: WrittenDay[] = [
    { text: 'L', star: false, matches: (date) => monthOf(shifted(date, 1)) !== monthOf(date) },
    {
      text: 'L-2',
      star: false,
      matches: (date) =>
        monthOf(shifted(date, 2)) === monthOf(date) && monthOf(shifted(date, 3)) !== monthOf(date),
    },
    {
      text: 'LW',
      star: false,
      matches: (date) => {
        const rest = [1, 2, 3].map((days) => shifted(date, days))
        const later = rest.filter((day) => monthOf(day) === monthOf(date) && isWorkday(day))
        return isWorkday(date) && later.length === 0 && monthOf(shifted(date, 4)) !== monthOf(date)
      },
    },
    {
      text: '15W',
      star: false,
      matches: (date) => {
        const day = date.getUTCDate()
        const weekday = date.getUTCDay()
        return (
          (isWorkday(date) && day === 15) ||
          (weekday === 5 && day === 14) ||
          (weekday === 1 && day === 16)
        )
      },
    },
  ]
  return fc.oneof(
    ordinaryDay(field(1, 31), (date) => date.getUTCDate()),
    fc.constantFrom(...special),
  )
}

function weekDay(): fc.Arbitrary<WrittenDay> {
  const special: WrittenDay[] = [
    {
      text: '7',
      star: false,
      matches: (date) => date.getUTCDay() === 0,
    },
    {
      text: 'Mon-FRI',
      star: false,
      matches: isWorkday,
    },
    {
      text: 'sunL',
      star: false,
      matches: (date) => date.getUTCDay() === 0 && monthOf(shifted(date, 7)) !== monthOf(date),
    },
    {
      text: '7#2',
      star: false,
      matches: (date) => date.getUTCDay() === 0 && Math.ceil(date.getUTCDate() / 7) === 2,
    },
  ]
  return fc.oneof(
    ordinaryDay(field(0, 6), (date) => date.getUTCDay()),
    fc.constantFrom(...special),
  )
}

function ordinaryDay(
  written: fc.Arbitrary<Written>,
  read: (date: Date) => number,
): fc.Arbitrary<WrittenDay> {
  return fc.oneof(
    fc.constantFrom('*', '?').map((text) => ({ text, star: true, matches: () => true })),
    written.map(({ text, matches }) => ({
      text,
      star: text.startsWith('*'),
      matches: (date: Date) => matches(read(date)),
    })),
  )
}

function isWorkday(date: Date): boolean {
  return date.getUTCDay() % 6 !== 0
}

function monthOf(date: Date): number {
  return date.getUTCMonth()
}

function shifted(date: Date, days: number): Date {
  return new Date(date.getTime() + days * 86_400_000)
}
