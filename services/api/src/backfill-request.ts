import { z } from 'zod'
import { Instant, Name, PageQuery } from './run-query.ts'

/** Ticks that one backfill may have. */
export const MOST_TICKS = 1_000_000
/** Days, spans and gaps between them that are passed over while its ticks are counted. */
export const MOST_KEPT_FROM = 100_000
const MOST_AT_ONCE = 1_000

const CONCURRENCY_RULE = `must be a whole number from 1 to ${MOST_AT_ONCE}`
const RATE_RULE = 'must be a number of runs a second, above 0 and at most 1000'

/** The body of `POST /schedules/{name}/backfill`. `from` is in the range, `to` is not. */
export const BackfillRequest = z.strictObject({
  from: Instant,
  to: Instant,
  rate: z.number(RATE_RULE).gt(0, RATE_RULE).max(1_000, RATE_RULE).optional(),
  concurrency: z
    .int(CONCURRENCY_RULE)
    .min(1, CONCURRENCY_RULE)
    .max(MOST_AT_ONCE, CONCURRENCY_RULE)
    .optional(),
  all: z.boolean('must be true or false').default(false),
})

/** The query of `GET /backfills`. */
export const BackfillQuery = PageQuery.extend({
  schedule: Name.optional(),
})
