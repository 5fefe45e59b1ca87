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

/** The payload is larger than a message may be. */
export class PayloadTooLargeError extends Error {
  override name = 'PayloadTooLargeError'
  readonly code = 'PAYLOAD_TOO_LARGE'
  readonly bytes: number
  readonly limitBytes: number
  constructor(bytes: number, limitBytes: number) {
    super(`payload: ${bytes} bytes as JSON, at most ${limitBytes} are allowed`)
    this.bytes = bytes
    this.limitBytes = limitBytes
  }
}

/** This scheduler no longer leads, or can't be sure that it does. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError'
  readonly code = 'LEASE_LOST'
}
