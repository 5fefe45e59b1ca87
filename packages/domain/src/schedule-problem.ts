import type { z } from 'zod'

type Keys = Record<string, unknown>

/** What is wrong with one field of a schedule file, a schedule or a calendar. */
export class ScheduleProblem {
  /** Dotted path, such as `schedules.nightly.cron`. */
  readonly field: string
  /** What would be right. */
  readonly message: string
  /** What was written there; undefined when it is missing or too large to show. */
  readonly value: string | number | boolean | null | undefined

  constructor(field: string, message: string, value?: unknown) {
    this.field = field
    this.message = message
    this.value = showable(value)
  }

  /** The problem as a sentence: place, value, what would be right. */
  toString(): string {
    const value = this.value === undefined ? '' : ` (${JSON.stringify(this.value)})`
    return `${this.field}${value}: ${this.message}`
  }

  /** The same problem for one who knows that all is about `base`. */
  within(base: string): ScheduleProblem {
    const field = this.field.startsWith(`${base}.`) ? this.field.slice(base.length + 1) : this.field
    return new ScheduleProblem(field, this.message, this.value)
  }
}

export interface Described {
  /** Where in the file `root` stands. */
  base?: readonly string[]
  root: unknown
  /** The keys that are known at the root. */
  keys: Keys
}

/** The issues of a document: place, value, what would be right. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  { base = [], root, keys }: Described,
): ScheduleProblem[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path.map(String)]
    if (issue.code === 'unrecognized_keys') {
      const inside = issue.path.findLast((key) => typeof key === 'string')
      const known = inside === undefined ? keys : NESTED_KEYS[inside]
      return issue.keys.map((key) => unknownKey([...path, key], known ?? {}))
    }
    const value = valueAt(root, issue.path)
    return [new ScheduleProblem(path.join('.') || 'the file', rightWay(issue, value), value)]
  })
}

/** The problem of a key that nothing is known by, with the nearest one that is. */
export function unknownKey(path: readonly string[], known: Keys): ScheduleProblem {
  const key = path.at(-1) ?? ''
  const names = Object.keys(known)
  const [nearest] = names.toSorted((a, b) => distance(key, a) - distance(key, b))
  const near = nearest !== undefined && distance(key, nearest) <= 1 + key.length / 4
  const hint = near ? `did you mean "${nearest}"?` : `allowed are ${names.join(', ')}`
  return new ScheduleProblem(path.join('.'), `unknown key; ${hint}`)
}

const NESTED_KEYS: Record<string, Keys> = {
  misfire: { policy: 1, after: 1, limit: 1, within: 1 },
  dst: { gap: 1, fold: 1 },
  calendars: { skip: 1, only: 1 },
  spans: { from: 1, to: 1 },
}

function rightWay(issue: z.core.$ZodIssue, value: unknown): string {
  const right = expected(issue)
  return value === undefined && issue.code !== 'custom' ? `is missing; ${right}` : right
}

/** Zod's own sentences begin so; one that a schema brings along says it better. */
const OF_ZOD = /^(Invalid|Too) /

function expected(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key')
    return `this name ${issue.issues.map((inner) => inner.message).join('; ')}`
  if (!OF_ZOD.test(issue.message)) return issue.message
  if (issue.code === 'invalid_type')
    return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`
  if (issue.code === 'too_big')
    return `must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters long' : ''}`
  return issue.message
}

const TYPE_NAMES: Record<string, string> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a text in quotes',
  boolean: 'true or false',
  record: 'a map of keys to values',
  object: 'a map of keys to values',
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const key of path)
    value = value !== null && typeof value === 'object' ? Reflect.get(value, key) : undefined
  return value
}

const MOST_SHOWN = 120

function showable(value: unknown): ScheduleProblem['value'] {
  if (typeof value === 'string')
    return value.length > MOST_SHOWN ? `${value.slice(0, MOST_SHOWN)}…` : value
  return value === null || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined
}

/** Levenshtein's distance, case aside. */
function distance(a: string, b: string): number {
  const [from, to] = [a.toLowerCase(), b.toLowerCase()]
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
