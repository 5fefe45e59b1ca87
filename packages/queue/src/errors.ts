/** Redis did not answer in time. Nothing is known of what was sent: the same id may be sent again. */
export class RedisUnavailableError extends Error {
  override name = 'RedisUnavailableError'
  readonly code = 'REDIS_UNAVAILABLE'
}

/** Redis is nearly full: producers are turned away so that workers can go on. */
export class TryLaterError extends Error {
  override name = 'TryLaterError'
  readonly code = 'TRY_LATER'
}

/**
 * A payload breaks its job's schema or is no JSON, an option its range, or a job its rules. The message
 * names each place, its value and what is right.
 */
export class InvalidRunError extends Error {
  override name = 'InvalidRunError'
  readonly code = 'INVALID_RUN'
}

/** The payload is larger than a message may be. */
export class PayloadTooLargeError extends Error {
  override name = 'PayloadTooLargeError'
  readonly code = 'PAYLOAD_TOO_LARGE'
  readonly bytes: number
  readonly limitBytes: number
  /** The position of the run, where several were enqueued at once. */
  readonly index: number | undefined
  constructor(bytes: number, limitBytes: number, index?: number) {
    super(
      `${index === undefined ? 'payload' : `payloads.${index}`}: ${bytes} bytes as JSON, at most ${limitBytes} are allowed: send a reference to what is large, or raise the limit (maxPayloadBytes of createClient, JADWAL_MAX_PAYLOAD_BYTES of the services)`,
    )
    this.bytes = bytes
    this.limitBytes = limitBytes
    this.index = index
  }
}

/** The job wants its payloads encrypted, and there is no key here to do so. Nothing was sent. */
export class MissingKeyError extends Error {
  override name = 'MissingKeyError'
  readonly code = 'MISSING_KEY'
  readonly job: string
  constructor(job: string) {
    super(
      `payloads of ${job} are encrypted, and no key is given here: set JADWAL_ENCRYPTION_KEYS (encryptionKeys of createClient)`,
    )
    this.job = job
  }
}

/** An envelope can't be opened. The message has the id of its key, and nothing that is in it. */
export class UnreadableEnvelopeError extends Error {
  override name = 'UnreadableEnvelopeError'
  readonly code = 'UNREADABLE_ENVELOPE'
  readonly keyId: string
  readonly reason: 'no-key' | 'not-authentic'
  constructor(
    { what, keyId, reason }: { what: string; keyId: string; reason: 'no-key' | 'not-authentic' },
    options?: ErrorOptions,
  ) {
    super(
      reason === 'no-key'
        ? `the ${what} is encrypted with the key ${keyId}, which is not among JADWAL_ENCRYPTION_KEYS here`
        : `the ${what} is encrypted with the key ${keyId}, but was changed, belongs to another run, or that key is another one here`,
      options,
    )
    this.keyId = keyId
    this.reason = reason
  }
}

/** Where an idempotency key or an id met an earlier run. */
export interface Conflict {
  field: 'id' | 'idempotencyKey'
  value: string
  /** The position of the run, where several were enqueued at once. */
  index?: number | undefined
  /** The first run that was enqueued so. */
  runId: string
  /** What keeps it from being this run; that it has another payload when left out. */
  problem?: string | undefined
}

/**
 * The idempotency key or the id belongs to an earlier run, whose job, payload or queue is another one, or
 * whose id its client did not make.
 */
export class IdempotencyConflictError extends Error implements Conflict {
  override name = 'IdempotencyConflictError'
  readonly code = 'IDEMPOTENCY_CONFLICT'
  readonly field: Conflict['field']
  readonly value: string
  readonly index: number | undefined
  readonly runId: string
  readonly problem: string
  /** What is right. */
  readonly remedy: string
  constructor({ field, value, index, runId, problem }: Conflict) {
    const place = index === undefined ? field : `${field}s.${index}`
    const another = field === 'id' ? 'make a new one with newRunId()' : 'use another key'
    const said = problem ?? `belongs to run ${runId} with another payload`
    const remedy = problem === undefined ? `send the same payload, or ${another}` : another
    super(`${place} (${JSON.stringify(value)}): ${said}: ${remedy}`)
    this.problem = said
    this.remedy = remedy
    this.field = field
    this.value = value
    this.index = index
    this.runId = runId
  }

  /** The same for a run that was enqueued by itself. */
  ofOne(): IdempotencyConflictError {
    const { field, value, runId, problem } = this
    return new IdempotencyConflictError({ field, value, runId, problem })
  }
}

/** This scheduler no longer leads, or can't be sure that it does. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError'
  readonly code = 'LEASE_LOST'
}
