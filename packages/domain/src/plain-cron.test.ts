import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cronCadence } from './cadence.ts'
import { cronProblem } from './cron.ts'
import { nextTick } from './next-tick.ts'
import { plainCron } from './plain-cron.ts'

const rule = { timezone: 'UTC', gap: 'shift', fold: 'once' } as const

function ticks(expression: string): number[] {
  const found: number[] = []
  let tick = nextTick(cronCadence(expression, rule), 0)
  while (tick !== undefined && found.length < 200) {
    found.push(tick)
    tick = nextTick(cronCadence(expression, rule), tick)
  }
  return found
}

function field(min: number, max: number): fc.Arbitrary<string> {
  const number = fc.integer({ min, max })
  const step = fc.integer({ min: 1, max: 12 })
  const range = fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const part = fc.oneof(
    number.map(String),
    range,
    fc.tuple(range, step).map(([span, by]) => `${span}/${by}`),
  )
  return fc.oneof(
    fc.constant('*'),
    step.map((by) => `*/${by}`),
    fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(',')),
  )
}

test('an expression written anew has the same ticks', () => {
  const days = fc.oneof(field(1, 28), fc.constantFrom('L', 'L-2', 'LW', '15W', '?'))
  const weekdays = fc.oneof(field(0, 7), fc.constantFrom('5L', '2#1', '?'))
  const expression = fc.tuple(field(0, 59), field(0, 23), days, field(1, 12), weekdays)
  fc.assert(
    fc.property(expression, (parts) => {
      const written = parts.join(' ')
      fc.pre(cronProblem(written) === undefined)
      const plain = plainCron(written)
      if (!plain) throw new Error(`no plain form of ${written}`)
      const { seconds, minutes, hours, monthDays, months, weekDays } = plain
      const time = `${seconds} ${minutes} ${hours}`
      fc.pre(plain.days === 'either' || monthDays === '*' || weekDays === '*')
      expect(ticks(`${time} ${monthDays} ${months} ${weekDays}`)).toEqual(ticks(written))
    }),
    { numRuns: 300 },
  )
})

test('two day fields say whether either is enough', () => {
  expect(plainCron('0 0 13 * 5')).toMatchObject({ monthDays: '13', weekDays: '5', days: 'either' })
  expect(plainCron('0 0 */10 * 5')).toMatchObject({ monthDays: '1,11,21,31', days: 'both' })
  expect(plainCron('0 0 1-31 * 5')).toMatchObject({ monthDays: '*', weekDays: '*' })
})

test('an interval and days of several kinds have no plain form', () => {
  expect(plainCron('@every 90s')).toBeUndefined()
  expect(plainCron('0 0 1,L * *')).toBeUndefined()
})
