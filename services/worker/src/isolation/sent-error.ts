/**
 * What was thrown, on its way between a worker and its child. Structured clone keeps of an error neither
 * its own name nor what it carries, by which `PermanentError` and its like are recognised.
 */
export interface SentError {
  name: string
  message: string
  stack?: string
  code?: string | number
  delayMs?: number
  timeoutMs?: number
  cause?: SentThrown
}

export type SentThrown = { error: SentError } | { value: unknown }

const DEEPEST_CAUSE = 5

/** Never throws, though getters and proxies among what is thrown may. */
export function sentThrown(thrown: unknown, depth = 0): SentThrown {
  try {
    if (thrown instanceof Error) return { error: sentError(thrown, depth) }
    return { value: structuredClone(thrown) }
  } catch {
    return { value: asText(thrown) }
  }
}

/** Throws what looking at the error throws. */
export function sentError(error: Error, depth = 0): SentError {
  return {
    name: asText(error.name),
    message: asText(error.message),
    ...(typeof error.stack === 'string' ? { stack: error.stack } : {}),
    ...('code' in error && isCode(error.code) ? { code: error.code } : {}),
    ...('delayMs' in error && typeof error.delayMs === 'number' ? { delayMs: error.delayMs } : {}),
    ...('timeoutMs' in error && typeof error.timeoutMs === 'number'
      ? { timeoutMs: error.timeoutMs }
      : {}),
    ...(error.cause === undefined || depth >= DEEPEST_CAUSE
      ? {}
      : { cause: sentThrown(error.cause, depth + 1) }),
  }
}

export function receivedThrown(sent: SentThrown): unknown {
  return 'error' in sent ? receivedError(sent.error) : sent.value
}

/** The abort of a signal comes back as what an `AbortSignal` gives, all else as an `Error` of that name. */
export function receivedError({ message, cause, ...facts }: SentError): Error {
  if (facts.name === 'AbortError') return new DOMException(message, 'AbortError')
  const error =
    cause === undefined ? new Error(message) : new Error(message, { cause: receivedThrown(cause) })
  error.stack = facts.stack ?? `${facts.name}: ${message}`
  return Object.assign(error, facts)
}

function isCode(code: unknown): code is string | number {
  return typeof code === 'string' || typeof code === 'number'
}

function asText(value: unknown): string {
  try {
    return String(value)
  } catch {
    return 'something that can not be shown'
  }
}
