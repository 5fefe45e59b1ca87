import { type Logger, pino } from 'pino'
import { instanceName } from './instance.ts'

export type { Logger } from 'pino'

/** Puts something else in the place of what shall not be seen in a text. */
type Mask = (text: string) => string

/** Writes JSON lines to standard output. What looks like a secret is hidden. */
export function createLogger(service: string, level: string, instance = instanceName()): Logger {
  return pino({
    level,
    base: { service, instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: (error: unknown) => shownError(error, asItIs) },
    redact: {
      paths: [
        'token',
        'password',
        'secret',
        '*.token',
        '*.password',
        '*.secret',
        'req.headers.authorization',
        'req.headers.cookie',
        'res.headers["set-cookie"]',
      ],
      censor: '(hidden)',
    },
  })
}

/** A logger whose errors are masked before they are written, whatever was thrown. */
export function maskErrors(log: Logger, mask: Mask): Logger {
  return log.child({}, { serializers: { err: (error: unknown) => shownError(error, mask) } })
}

/**
 * Names its fields instead of copying all: ioredis hangs the failed command with its arguments on an
 * error, which would put payloads and passwords into the log.
 */
function shownError(error: unknown, mask: Mask, depth = 0): unknown {
  if (!(error instanceof Error)) return shownValue(error, mask)
  const { name, message, stack, cause } = error
  const code = 'code' in error ? error.code : undefined
  return {
    type: shownValue(name, mask),
    message: shownValue(message, mask),
    ...(code === undefined ? {} : { code: shownValue(code, mask) }),
    stack: shownValue(stack, mask),
    ...(cause === undefined || depth > 3 ? {} : { cause: shownError(cause, mask, depth + 1) }),
  }
}

/** What is more than a text is masked as the JSON that it is. */
function shownValue(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value)
  if (mask === asItIs || typeof value !== 'object' || value === null) return value
  try {
    return mask(JSON.stringify(value))
  } catch {
    return 'something that can not be shown'
  }
}

function asItIs(text: string): string {
  return text
}
