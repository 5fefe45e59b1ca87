import { DAY } from '@jadwal/domain'
import { z } from 'zod'
import { fieldProblem } from './problem.ts'
import { Instant, PageQuery } from './run-query.ts'
import { parseRequest } from './zod-problem.ts'

const DEFAULT_LIMIT = 50
const DEFAULT_COUNT = 10

const Flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true')
  .default(false)

/** The query of `GET …/ticks`. */
export const LedgerQuery = PageQuery.extend({
  from: Instant.optional(),
  to: Instant.optional(),
  cursor: Instant.optional(),
  summary: Flag,
})

export interface LedgerRequest {
  fromMs: number
  /** Exclusive. */
  toMs: number
  limit: number
  /** The last tick of the page before. */
  cursorMs?: number
  wantsSummary: boolean
}

/** The query of `GET …/ticks`: the last day, unless it says otherwise. */
export function readLedgerQuery(query: unknown, nowMs: number): LedgerRequest {
  const { from, to, limit, cursor, summary } = parseRequest(LedgerQuery, query, 'query')
  const toMs = to?.getTime() ?? Math.max(nowMs, from?.getTime() ?? nowMs)
  const fromMs = from?.getTime() ?? toMs - DAY
  if (toMs < fromMs)
    throw fieldProblem('bad-request', 'to', 'must not be before from; from is included, to is not')
  return {
    fromMs,
    toMs,
    limit: limit ?? DEFAULT_LIMIT,
    ...(cursor ? { cursorMs: cursor.getTime() } : {}),
    wantsSummary: summary,
  }
}

/** The query of `GET …/next`. */
export const NextQuery = z.strictObject({
  count: z
    .string('must be given once')
    .regex(/^([1-9]\d{0,2}|1000)$/, 'must be a whole number from 1 to 1000')
    .meta({ type: 'integer', minimum: 1, maximum: 1_000, default: DEFAULT_COUNT })
    .transform(Number)
    .default(DEFAULT_COUNT),
})

/** The query of `GET …/next`. */
export function readNextQuery(query: unknown): { count: number } {
  return parseRequest(NextQuery, query, 'query')
}
