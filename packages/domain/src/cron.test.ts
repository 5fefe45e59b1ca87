import { CronExpressionParser } from 'cron-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cronProblem, parseCron } from './cron.ts'
import { CronError } from './cron-field.ts'
import type { CronFields } from './cron-fields.ts'
import { shortestIntervalMs } from './cron-interval.ts'

test.each([
  '* * * * *',
  '*/5 * * * * *',
  '05 07 * jan,JUL 0,7',
  '10-30/5 0-23/6 */2 * *',
  '0 0 ? * mon-fri',
  '0 0 1,15W,LW,l-3 * ?',
  '0 0 * * friL,2#1',
  '0 0 * * 5-7',
  '*/90 * * * *',
  '5/15 * * * *',
  ' 0\t0  * * * ',
  '@Daily',
  '@midnight',
  '@every 90s',
  ' @EVERY\t1h30m ',
  '0 0 */31 1 1#1,4#1',
])('takes %s', (expression) => {
  expect(cronProblem(expression)).toBeUndefined()
})

const NUMBERS = '"*", lists (1,2), ranges (1-5) and steps (*/2)'
const MINUTES = `allowed are 0-59, ${NUMBERS}`
const DAYS = `allowed are 1-31, ${NUMBERS}, "?", L, LW, L-3, 15W`
const WEEKDAYS = `allowed are 0-7 (0 and 7 are Sunday), sun-sat, ${NUMBERS}, "?", 5L, 2#1`
const NAMES =
  'allowed are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, @every 90s'
const WRAPPED = 'the range ends before it begins, and ranges do not wrap around'
const COUNTS = 'allowed are 5 (minute, hour, day of month, month, day of week) or 6 (second first)'
const INTERVALS =
  'allowed are whole numbers with ms, s, m, h or d, 1s to 366d in all, for example "@every 90s" or "@every 1h30m"'
const RANDOM = '"H" stands for a random value; write a fixed one, and "jitter" to spread schedules'

test.each([
  ['', 'is empty; write 5 fields, for example "30 2 * * *"'],
  ['*', `"*" has 1 field; ${COUNTS}`],
  ['* * *', `"* * *" has 3 fields; ${COUNTS}`],
  ['0 0 0 1 1 * 2026', `"0 0 0 1 1 * 2026" has 7 fields; ${COUNTS}`],
  ['60 * * * *', `minute "60": 60 is not within 0-59; ${MINUTES}`],
  ['61 * * * * *', `second "61": 61 is not within 0-59; ${MINUTES}`],
  ['* 24 * * *', `hour "24": 24 is not within 0-23; allowed are 0-23, ${NUMBERS}`],
  ['* * 0 * *', `day of month "0": 0 is not within 1-31; ${DAYS}`],
  ['* * * foo *', `month "foo": not a number or name; allowed are 1-12, jan-dec, ${NUMBERS}`],
  ['* * * * mond', `day of week "mond": not a number or name; "mon" is meant?; ${WEEKDAYS}`],
  ['* * * * 8', `day of week "8": 8 is not within 0-7; ${WEEKDAYS}`],
  ['5-1 * * * *', `minute "5-1": ${WRAPPED}; write "5-59,0-1"; ${MINUTES}`],
  ['* 22-4/2 * * *', `hour "22-4/2", at "22-4": ${WRAPPED}; allowed are 0-23, ${NUMBERS}`],
  ['* * * * FRI-mon', `day of week "FRI-mon": ${WRAPPED}; write "FRI-sat,sun-mon"; ${WEEKDAYS}`],
  ['* * * * sat-sun', `day of week "sat-sun": ${WRAPPED}; write "sat,sun"; ${WEEKDAYS}`],
  ['* * * * 5-0', `day of week "5-0": ${WRAPPED}; write "5-6,0"; ${WEEKDAYS}`],
  ['* * * * 7-2', `day of week "7-2": ${WRAPPED}; write "7,0-2"; ${WEEKDAYS}`],
  ['*/0 * * * *', `minute "*/0": the step must be at least 1; ${MINUTES}`],
  ['*/x * * * *', `minute "*/x": "x" is no step; ${MINUTES}`],
  ['1/2/3 * * * *', `minute "1/2/3": has more than one "/"; ${MINUTES}`],
  ['1-2-3 * * * *', `minute "1-2-3": has more than one "-"; ${MINUTES}`],
  ['1,,2 * * * *', `minute "1,,2": a value is missing; ${MINUTES}`],
  ['*5 * * * *', `minute "*5": not a number; ${MINUTES}`],
  [
    '? * * * *',
    `minute "?": "?" goes with day of month and day of week only; write "*"; ${MINUTES}`,
  ],
  ['H * * * *', `minute "H": ${RANDOM}; ${MINUTES}`],
  ['H(0-29)/10 * * * *', `minute "H(0-29)/10": ${RANDOM}; ${MINUTES}`],
  ['* * 1,h/3 * *', `day of month "1,h/3", at "h/3": ${RANDOM}; ${DAYS}`],
  ['* * * * H', `day of week "H": ${RANDOM}; ${WEEKDAYS}`],
  ['0~30 * * * *', `minute "0~30": ${RANDOM.replace('H', '~')}; ${MINUTES}`],
  ['1,0-60/5 * * * *', `minute "1,0-60/5", at "60": 60 is not within 0-59; ${MINUTES}`],
  ['* * W * *', `day of month "W": not a number; ${DAYS}`],
  ['* * 32W * *', `day of month "32W", at "32": 32 is not within 1-31; ${DAYS}`],
  ['* * L-31 * *', `day of month "L-31": no month has that many days before its last; ${DAYS}`],
  ['* * * * L', `day of week "L": name the weekday: 5L is the last Friday; ${WEEKDAYS}`],
  ['* * * * 2#6', `day of week "2#6": a weekday comes at most 5 times, #1-#5; ${WEEKDAYS}`],
  ['@reboot', `"@reboot" means the start of a machine, which is no point in time; ${NAMES}`],
  ['@fortnightly', `"@fortnightly" is no known name; ${NAMES}`],
  ['@every_minute', `"@every_minute" is no known name; ${NAMES}`],
  ['@every', `"@every": no duration stands behind "@every"; ${INTERVALS}`],
  ['@every 90', `"@every 90": no duration stands behind "@every"; ${INTERVALS}`],
  ['@every 1h90x', `"@every 1h90x": no duration stands behind "@every"; ${INTERVALS}`],
  ['@every 1.5h', `"@every 1.5h": no duration stands behind "@every"; ${INTERVALS}`],
  ['@every 1h 30m', `"@every 1h 30m": no duration stands behind "@every"; ${INTERVALS}`],
  ['@every 0s', `"@every 0s": the interval is shorter than 1s; ${INTERVALS}`],
  ['@every 367d', `"@every 367d": the interval is longer than 366d; ${INTERVALS}`],
  ['0 0 30 2 *', 'never fires: there is no day "30" in month "2"'],
  ['0 0 31 4,6,sep ?', 'never fires: there is no day "31" in month "4,6,sep"'],
  ['0 0 */40 * 1#2', 'never fires: there is no day "*/40" in month "*" on weekday "1#2"'],
])('%s: %s', (expression, problem) => {
  expect(cronProblem(expression)).toBe(problem)
})

test('parsing an expression that is wrong throws what its problem is', () => {
  expect(() => parseCron('* *')).toThrow(CronError)
  expect(() => parseCron('* *')).toThrow(cronProblem('* *') ?? '')
})

function fieldsOf(expression: string): CronFields {
  const cron = parseCron(expression)
  if (cron.everyMs !== undefined) throw new Error(`${expression} has no fields`)
  return cron.fields
}

test('an expression is taken apart into its fields', () => {
  expect(fieldsOf('0 */6 15W,3,3 feb 7,1#2,5L')).toEqual({
    seconds: [0],
    minutes: [0],
    hours: [0, 6, 12, 18],
    hourStar: true,
    monthDays: { star: false, days: [3], beforeLast: [], nearest: [15], lastWorkday: false },
    months: [2],
    weekDays: { star: false, weekdays: [0], nth: [{ weekday: 1, n: 2 }], last: [5] },
  })
})

test('an open step of weekdays ends on Saturday, as in Kubernetes', () => {
  expect(fieldsOf('0 0 * * 1/2').weekDays.weekdays).toEqual([1, 3, 5])
  expect(fieldsOf('0 0 * * 7/2').weekDays.weekdays).toEqual([0])
})

test('parsed expressions do not pile up without end', () => {
  for (let count = 0; count < 10_050; count += 1)
    expect(cronProblem(`0 0 1 1 *${' '.repeat(count % 150)}${'\t'.repeat(count / 150)}`)).toBe(
      undefined,
    )
})

function number(min: number, max: number): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom('*', '*/7', '*/2'),
    fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }).map(String),
    fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }), fc.integer({ min: 1, max: 9 }))
      .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`),
  )
}

test('reads ordinary fields as cron-parser does', () => {
  const cases = fc.tuple(number(0, 59), number(0, 59), number(0, 23), number(1, 28), number(1, 12))
  fc.assert(
    fc.property(cases, (fields) => {
      const expression = `${fields.join(' ')} *`
      const ours = fieldsOf(expression)
      const theirs = CronExpressionParser.parse(expression).fields
      expect(ours.seconds).toEqual(theirs.second.values)
      expect(ours.minutes).toEqual(theirs.minute.values)
      expect(ours.hours).toEqual(theirs.hour.values)
      expect(ours.months).toEqual(theirs.month.values)
    }),
    { numRuns: 200 },
  )
})

test.each(['0 0 * * 5-7', '0 0 * * Fri-7', '0 0 * * 0,5,6', '0 0 * * fri,SAT,sUn'])(
  '%s is Friday to Sunday',
  (expression) => {
    expect(fieldsOf(expression).weekDays.weekdays).toEqual([0, 5, 6])
  },
)

test.each(['*', '*/2', '*/31', '*,5', '?'])(
  'the day field %s counts as beginning with *',
  (text) => {
    expect(fieldsOf(`0 0 ${text} * 1`)).toMatchObject({
      monthDays: { star: true },
      weekDays: { star: false },
    })
  },
)

test.each([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@HOURLY', '0 * * * *'],
])('%s stands for %s', (name, expression) => {
  expect(fieldsOf(name)).toEqual(fieldsOf(expression))
})

test.each([
  ['* * * * *', 60_000],
  ['0 9-17 * * *', 3_600_000],
  ['59 23,0 * * *', 3_600_000],
  ['*/45 * * * * *', 15_000],
  ['0 0 1 * *', 28 * 86_400_000],
  ['@every 1h30m', 5_400_000],
])('the shortest interval of %s is %i ms', (expression, expected) => {
  expect(shortestIntervalMs(expression)).toBe(expected)
  expect(shortestIntervalMs(expression)).toBe(expected)
})
