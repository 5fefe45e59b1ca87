/** One of the fields that name numbers: its words and what it may hold. */
export interface CronField {
  name: string
  min: number
  max: number
  /** Words for its numbers; the first one stands for `min`. */
  words: readonly string[]
  /** What an error says is allowed. */
  allowed: string
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ')
const FORMS = '"*", lists (1,2), ranges (1-5) and steps (*/2)'

export const SECOND_FIELD = numbers('second', 0, 59)
export const MINUTE_FIELD = numbers('minute', 0, 59)
export const HOUR_FIELD = numbers('hour', 0, 23)
export const DAY_FIELD: CronField = {
  ...numbers('day of month', 1, 31),
  allowed: `1-31, ${FORMS}, "?", L, LW, L-3, 15W`,
}
export const MONTH_FIELD: CronField = {
  ...numbers('month', 1, 12),
  words: MONTHS,
  allowed: `1-12, jan-dec, ${FORMS}`,
}
export const WEEKDAY_FIELD: CronField = {
  ...numbers('day of week', 0, 7),
  words: WEEKDAYS,
  allowed: `0-7 (0 and 7 are Sunday), sun-sat, ${FORMS}, "?", 5L, 2#1`,
}

/** An expression that is wrong; the message names field, value and what is allowed. */
export class CronError extends Error {
  override name = 'CronError'
}

/** The error of one field. */
export function fieldError(field: CronField, text: string, why: string): CronError {
  return new CronError(`${field.name} "${text}": ${why}; allowed are ${field.allowed}`)
}

/** The numbers that an atom such as `*`, `5`, `mon-fri` or `10-30/5` stands for, ascending. */
export function readAtom(field: CronField, atom: string): number[] {
  const [span = '', stepText, ...more] = atom.split('/')
  if (more.length > 0) throw fieldError(field, atom, 'has more than one "/"')
  const step = stepText === undefined ? 1 : readStep(field, atom, stepText)
  const [from, to] = readSpan(field, atom, { span, open: stepText !== undefined })
  const values: number[] = []
  for (let value = from; value <= to; value += step) values.push(value)
  return values
}

/** The number of a digit string or a name; throws on anything else. */
export function readNumber(field: CronField, text: string): number {
  const word = field.words.indexOf(text.toLowerCase())
  if (word !== -1) return word + field.min
  if (!/^\d{1,4}$/.test(text)) throw fieldError(field, text, whyUnreadable(field, text))
  const value = Number(text)
  if (value < field.min || value > field.max)
    throw fieldError(field, text, `${value} is not within ${field.min}-${field.max}`)
  return value
}

function numbers(name: string, min: number, max: number): CronField {
  return { name, min, max, words: [], allowed: `${min}-${max}, ${FORMS}` }
}

/** `*` and an open `5/15` end at the field's last number; of days of the week that is Saturday. */
function readSpan(
  field: CronField,
  atom: string,
  { span, open }: { span: string; open: boolean },
): [number, number] {
  const last = field === WEEKDAY_FIELD ? 6 : field.max
  if (span === '*') return [field.min, last]
  const [fromText = '', toText, ...more] = span.split('-')
  if (more.length > 0) throw fieldError(field, atom, 'has more than one "-"')
  const from = readNumber(field, fromText)
  if (toText === undefined) return [from, open ? Math.max(from, last) : from]
  const to = readNumber(field, toText)
  if (to >= from) return [from, to]
  const hint = field === WEEKDAY_FIELD && to === 0 ? `; Sunday at the end of a range is 7` : ''
  throw fieldError(field, atom, `the range ends before it begins${hint}`)
}

function readStep(field: CronField, atom: string, text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw fieldError(field, atom, `"${text}" is no step`)
  if (Number(text) === 0) throw fieldError(field, atom, 'the step must be at least 1')
  return Number(text)
}

function whyUnreadable(field: CronField, text: string): string {
  if (text === '') return 'a value is missing'
  if (/^h(\(\d+)?$/i.test(text))
    return '"H" stands for a random value; write a fixed one, and "jitter" to spread schedules'
  if (text.includes('~')) return '"~" draws a random value; write a fixed one, and "jitter"'
  const word = field.words.find((known) => text.toLowerCase().startsWith(known))
  return `not a number${field.words.length > 0 ? ' or name' : ''}${word ? `; "${word}" is meant?` : ''}`
}
