/** What can be wrong with a request, and its status. */
const KINDS = {
  'bad-request': [400, 'The request is not right'],
  'malformed-json': [400, 'The body is not JSON'],
  'malformed-yaml': [400, 'The body is not YAML'],
  unauthorized: [401, 'A token is needed'],
  forbidden: [403, 'Not allowed'],
  'not-found': [404, 'Not found'],
  'method-not-allowed': [405, 'Method not allowed'],
  'request-timeout': [408, 'The request came too slowly'],
  overlap: [409, 'An earlier run is unfinished'],
  shadow: [409, 'The schedule is in shadow mode'],
  'backfill-ended': [409, 'The backfill has ended'],
  'idempotency-conflict': [409, 'The key or id belongs to another run'],
  'run-ended': [409, 'The run has ended'],
  'not-retrying': [409, 'The run waits for no retry'],
  'letter-discarded': [409, 'The dead letter was discarded'],
  'redrive-ended': [409, 'The redrive has ended'],
  'reserved-queue': [409, 'The queue belongs to Jadwal itself'],
  'not-delayed': [409, 'The run waits for no time'],
  'no-leader': [409, 'No scheduler leads'],
  'of-the-file': [409, 'Made by the schedule file'],
  'paused-by-spec': [409, 'The schedule says that it is paused'],
  'calendar-in-use': [409, 'Schedules name the calendar'],
  'lock-in-use': [409, 'The lock is in use'],
  'name-taken': [409, 'The name is taken'],
  'too-many-tokens': [409, 'There are too many tokens'],
  'precondition-failed': [412, 'It has changed since'],
  'payload-too-large': [413, 'The body is too large'],
  'unsupported-media-type': [415, 'The body must be JSON'],
  'unknown-job': [422, 'No such job'],
  'invalid-payload': [422, 'The payload does not fit the job'],
  'too-many-failures': [429, 'Too many wrong tokens'],
  internal: [500, 'Something went wrong on this side'],
  'redis-unavailable': [503, 'Redis does not answer'],
  'history-unavailable': [503, 'The history does not answer'],
  'tokens-unavailable': [503, 'Tokens cannot be checked'],
  'no-encryption-key': [503, 'The api has no key to encrypt with'],
  'try-later': [503, 'Try again later'],
  'too-many-streams': [503, 'There are too many streams'],
  'answer-timeout': [504, 'The answer took too long'],
  'no-successor': [504, 'No other scheduler took over'],
} as const
export type ProblemKind = keyof typeof KINDS

/** All of them. */
export const PROBLEM_KINDS = Object.keys(KINDS) as ProblemKind[]

export function problemStatus(kind: ProblemKind): number {
  return KINDS[kind][0]
}

export function problemTitle(kind: ProblemKind): string {
  return KINDS[kind][1]
}

/** A document of this kind, for those who want to see one. */
export function exampleProblem(kind: ProblemKind): Record<string, unknown> {
  const detail = `${problemTitle(kind)}.`
  return new Problem(kind, { detail }).document('0b7f9d52-2f4e-4c1b-9f0a-6d1f3a1c9e11')
}

/** One field of the request that is wrong. */
export interface FieldError {
  /** Dotted path, such as `payload.to`. */
  field: string
  message: string
  /** What was sent, where that helps. */
  value?: string | number | boolean | null | undefined
}

export interface ProblemFacts {
  detail: string
  errors?: readonly FieldError[]
  headers?: Record<string, string>
  /** Further members of the document. */
  more?: Record<string, unknown>
  cause?: unknown
}

/** A caller may send as much as a body holds, and needs to see little of it again. */
const MOST_ERRORS = 100
const LONGEST_TEXT = 500
const LONGEST_DETAIL = 32_768

/** An answer that says what is wrong, as a problem document (RFC 9457). */
export class Problem extends Error {
  override name = 'Problem'
  readonly kind: ProblemKind
  readonly errors: readonly FieldError[] | undefined
  readonly headers: Record<string, string>
  readonly more: Record<string, unknown>

  constructor(kind: ProblemKind, { detail, errors, headers = {}, more = {}, cause }: ProblemFacts) {
    super(cut(detail, LONGEST_DETAIL), { cause })
    this.kind = kind
    this.errors = errors?.slice(0, MOST_ERRORS).map(shortened)
    this.headers = headers
    this.more = more
  }

  get status(): number {
    return KINDS[this.kind][0]
  }

  /** The document. `requestId` finds the request in the log. */
  document(requestId: string): Record<string, unknown> {
    return {
      type: `urn:jadwal:problem:${this.kind}`,
      title: KINDS[this.kind][1],
      status: this.status,
      detail: this.message,
      ...(this.errors ? { errors: this.errors } : {}),
      ...this.more,
      requestId,
    }
  }
}

function shortened({ field, message, ...rest }: FieldError): FieldError {
  const { value } = rest
  return {
    field: cut(field, LONGEST_TEXT),
    message: cut(message, LONGEST_TEXT),
    ...rest,
    ...(typeof value === 'string' ? { value: cut(value, LONGEST_TEXT) } : {}),
  }
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`
}

/** A problem of one field of the query or body. */
export function fieldProblem(kind: ProblemKind, field: string, message: string): Problem {
  return new Problem(kind, { detail: `${field} ${message}`, errors: [{ field, message }] })
}
