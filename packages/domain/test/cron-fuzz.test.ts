import { CronError, cronProblem, nextTick, parseCadenceKey } from '@jadwal/domain'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const FIELDS = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week']
/** What a refusal begins with: a field and its text, or the whole text. */
const NAMED = new RegExp(
  `^((${FIELDS.join('|')}) "|".*" (has \\d+ |is no |means )|".*@every|is empty;|never fires: )`,
  's',
)

/** Texts that look like fields, and worse. */
const part = fc.oneof(
  fc.constantFrom('*', '?', 'L', 'LW', 'W', 'H', 'mon', 'JAN', 'friL', '2#1', '@every', '90s'),
  fc.constantFrom(',', '-', '/', '#', '~', '@', 'L-', '\u0000', '١', 'é', '💥', '__proto__'),
  fc.integer({ min: -5, max: 100 }).map(String),
  fc.string({ maxLength: 4, unit: 'binary' }),
)
const text = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
const anything = fc.oneof(
  fc.array(text, { minLength: 5, maxLength: 6 }).map((texts) => texts.join(' ')),
  fc.array(text, { maxLength: 8 }).map((texts) => texts.join(' ')),
  text.map((some) => `@${some}`),
  text.map((some) => `@every ${some}`),
  fc.string({ maxLength: 2_000, unit: 'binary' }),
)

test('whatever is written fires, or is refused in words, at once', () => {
  let slowest = 0
  fc.assert(
    fc.property(anything, (expression) => {
      const started = cpuMs()
      const problem = cronProblem(expression)
      slowest = Math.max(slowest, cpuMs() - started)
      expect(problem ?? 'is empty;').toMatch(NAMED)
      expect(problem?.length ?? 0).toBeLessThan(400)
      expect(firstTick(expression)).toBe(problem ?? 'fires')
    }),
    { numRuns: 20_000 },
  )
  expect(slowest).toBeLessThan(50)
})

/** `fires`, or the message of a CronError; anything else is thrown on. */
function firstTick(expression: string): string {
  try {
    const tick = nextTick(parseCadenceKey(`cron UTC shift once ${expression}`), 0)
    return tick !== undefined && tick > 0 ? 'fires' : `${tick}`
  } catch (error) {
    if (error instanceof CronError) return error.message
    throw error
  }
}

test('a field that is wrong is named with its text, whichever it is', () => {
  const wrong = fc.constantFrom('99', '5-', 'H', 'x', '*/0', '1,,2', '1/2/3', '9-1', '0~5', 'W#')
  fc.assert(
    fc.property(fc.nat(5), wrong, (index, bad) => {
      const expression = FIELDS.map((_, field) => (field === index ? bad : '*')).join(' ')
      expect(cronProblem(expression)?.startsWith(`${FIELDS[index]} "${bad}"`)).toBe(true)
      expect(cronProblem(expression)).toContain('; allowed are ')
    }),
  )
})

test.each([
  ['digits', '9'.repeat(1_000_000)],
  ['a list', `${'1,'.repeat(500_000)}1 * * * *`],
  ['spaces', `*${' '.repeat(1_000_000)}* * * *`],
  ['steps', `${'*/'.repeat(500_000)} * * * *`],
  ['fields', '* '.repeat(500_000)],
  ['an interval', `@every ${'1h'.repeat(500_000)}`],
])('a million characters of %s are refused at once', (_name, expression) => {
  const started = cpuMs()
  expect(cronProblem(expression)).toMatch(
    /^".{60}…" has \d+ characters; at most 1000 are allowed$/s,
  )
  expect(cpuMs() - started).toBeLessThan(50)
})

test('an expression that spells every number out is not too long', () => {
  const texts = [all(0, 59), all(0, 59), all(0, 23), all(1, 31), all(1, 12), all(0, 7)]
  expect(cronProblem(texts.join(' '))).toBeUndefined()
})

function all(min: number, max: number): string {
  return Array.from({ length: max - min + 1 }, (_, index) => min + index).join(',')
}

/** The time that this process has worked, whatever else the machine does. */
function cpuMs(): number {
  return process.cpuUsage().user / 1_000
}
