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

/** What is wrong with a part of a field. */
export class PartError extends Error {
  override name = 'PartError'
  readonly part: string

  constructor(part: string, why: string) {
    super(why)
    this.part = part
  }
}

/** Reads the text of a field; what is wrong with a part of it becomes a CronError. */
export function readField<T>(field: CronField, text: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof PartError)) throw error
    const { part, message } = error
    const at = part === text || part === '' ? '' : `, at ${quoted(part)}`
    throw new CronError(
      `${field.name} ${quoted(text)}${at}: ${message}; allowed are ${field.allowed}`,
    )
  }
}

/** A text as messages show it. */
export function quoted(text: string): string {
  return `"${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}"`
}

const SHOWN = 60

/** The numbers that an atom such as `*`, `5`, `mon-fri` or `10-30/5` stands for, ascending. */
export function readAtom(field: CronField, atom: string): number[] {
  refuseRandom(atom)
  const [span = '', stepText, ...more] = atom.split('/')
  if (more.length > 0) throw new PartError(atom, 'has more than one "/"')
  const step = stepText === undefined ? 1 : readStep(atom, stepText)
  const [from, to] = readSpan(field, span, stepText !== undefined)
  const values: number[] = []
  for (let value = from; value <= to; value += step) values.push(value)
  return values
}

/** The number of a digit string or a name; throws on anything else. */
export function readNumber(field: CronField, text: string): number {
  const word = field.words.indexOf(text.toLowerCase())
  if (word !== -1) return word + field.min
  if (!/^\d{1,4}$/.test(text)) throw new PartError(text, whyUnreadable(field, text))
  const value = Number(text)
  if (value < field.min || value > field.max)
    throw new PartError(text, `${value} is not within ${field.min}-${field.max}`)
  return value
}

function numbers(name: string, min: number, max: number): CronField {
  return { name, min, max, words: [], allowed: `${min}-${max}, ${FORMS}` }
}

/** The last number that `*` and an open `5/15` reach; of days of the week that is Saturday. */
function lastOf(field: CronField): number {
  return field === WEEKDAY_FIELD ? 6 : field.max
}

function readSpan(field: CronField, span: string, open: boolean): [number, number] {
  if (span === '*') return [field.min, lastOf(field)]
  const [fromText = '', toText, ...more] = span.split('-')
  if (more.length > 0) throw new PartError(span, 'has more than one "-"')
  const from = readNumber(field, fromText)
  if (toText === undefined) return [from, open ? Math.max(from, lastOf(field)) : from]
  const to = readNumber(field, toText)
  if (to >= from) return [from, to]
  const hint = open ? '' : `; write "${unwrapped(field, fromText, toText)}"`
  throw new PartError(span, `the range ends before it begins, and ranges do not wrap around${hint}`)
}

/** The two ranges that one such as `fri-mon` is meant to be. */
function unwrapped(field: CronField, fromText: string, toText: string): string {
  const named = field.words.includes(toText.toLowerCase())
  const last = named ? field.words.at(-1) : lastOf(field)
  const first = named ? field.words[0] : field.min
  const head = readNumber(field, fromText) >= lastOf(field) ? fromText : `${fromText}-${last}`
  const tail = readNumber(field, toText) === field.min ? toText : `${first}-${toText}`
  return `${head},${tail}`
}

function readStep(atom: string, text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new PartError(atom, `"${text}" is no step`)
  if (Number(text) === 0) throw new PartError(atom, 'the step must be at least 1')
  return Number(text)
}

/** Jenkins draws a value for `H`, and so do some cron libraries; OpenBSD's cron draws one for `~`. */
function refuseRandom(atom: string): void {
  const sign = /\bH\b/i.test(atom) ? 'H' : '~'
  if (sign === 'H' || atom.includes(sign))
    throw new PartError(
      atom,
      `"${sign}" stands for a random value; write a fixed one, and "jitter" to spread schedules`,
    )
}

function whyUnreadable(field: CronField, text: string): string {
  if (text === '') return 'a value is missing'
  const word = field.words.find((known) => text.toLowerCase().startsWith(known))
  return `not a number${field.words.length > 0 ? ' or name' : ''}${word ? `; "${word}" is meant?` : ''}`
}
