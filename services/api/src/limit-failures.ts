import { MINUTE } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import { Problem } from './problem.ts'

/** Wrong tokens that an address may send in a minute. */
const MOST_FAILURES = 10

/**
 * Lets an address try ten wrong tokens a minute, then answers with a problem until the minute is over.
 * Only what is answered with an error counts. Each process counts for itself.
 */
export function limitFailures(): RequestHandler {
  return rateLimit({
    windowMs: MINUTE,
    limit: MOST_FAILURES,
    skipSuccessfulRequests: true,
    standardHeaders: false,
    legacyHeaders: false,
    // Its advice would go to the console, past the log.
    validate: false,
    handler: (_req, _res, next) => {
      next(
        new Problem('too-many-failures', {
          detail: `More than ${MOST_FAILURES} wrong tokens came from this address within a minute.`,
          headers: { 'Retry-After': String(MINUTE / 1_000) },
        }),
      )
    },
  })
}
