import { type Logger, pino } from 'pino'
import { instanceName } from './instance.ts'

export type { Logger } from 'pino'

/** Writes JSON lines to standard output. What looks like a secret is hidden. */
export function createLogger(service: string, level: string, instance = instanceName()): Logger {
  return pino({
    level,
    base: { service, instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: serializeError },
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

/**
 * Names its fields instead of copying all: ioredis hangs the failed command with its arguments on an
 * error, which would put payloads and passwords into the log.
 */
function serializeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const code = 'code' in error ? error.code : undefined
  return {
    type: name,
    message,
    ...(code === undefined ? {} : { code }),
    stack,
    ...(cause === undefined || depth > 3 ? {} : { cause: serializeError(cause, depth + 1) }),
  }
}
