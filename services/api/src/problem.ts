/** What can be wrong with a request, and its status. */
const KINDS = {
  'bad-request': [400, 'The request is not right'],
  'malformed-json': [400, 'The body is not JSON'],
  unauthorized: [401, 'A token is needed'],
  forbidden: [403, 'Not allowed'],
  'not-found': [404, 'Not found'],
  'method-not-allowed': [405, 'Method not allowed'],
  'payload-too-large': [413, 'The body is too large'],
  'unsupported-media-type': [415, 'The body must be JSON'],
  'unknown-job': [422, 'No such job'],
  'invalid-payload': [422, 'The payload does not fit the job'],
  'too-many-failures': [429, 'Too many wrong tokens'],
  internal: [500, 'Something went wrong on this side'],
  'redis-unavailable': [503, 'Redis does not answer'],
  'history-unavailable': [503, 'The history does not answer'],
  'try-later': [503, 'Try again later'],
} as const
export type ProblemKind = keyof typeof KINDS

/** One field of the request that is wrong. */
export interface FieldError {
  /** Dotted path, such as `payload.to`. */
  field: string
  message: string
}

export interface ProblemFacts {
  detail: string
  errors?: readonly FieldError[]
  headers?: Record<string, string>
  cause?: unknown
}

/** An answer that says what is wrong, as a problem document (RFC 9457). */
export class Problem extends Error {
  override name = 'Problem'
  readonly kind: ProblemKind
  readonly errors: readonly FieldError[] | undefined
  readonly headers: Record<string, string>

  constructor(kind: ProblemKind, { detail, errors, headers = {}, cause }: ProblemFacts) {
    super(detail, { cause })
    this.kind = kind
    this.errors = errors
    this.headers = headers
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
      requestId,
    }
  }
}

/** A problem of one field of the query or body. */
export function fieldProblem(kind: ProblemKind, field: string, message: string): Problem {
  return new Problem(kind, { detail: `${field} ${message}`, errors: [{ field, message }] })
}
