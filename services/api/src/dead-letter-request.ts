import type { DeadLetterFilters, PageRequest, Settled } from '@jadwal/db'
import { JobName, QueueName } from '@jadwal/domain'
import { z } from 'zod'
import { fieldProblem } from './problem.ts'
import { Instant, PageQuery, wellFormed, withoutUndefined } from './run-query.ts'
import { parseRequest } from './zod-problem.ts'

/** Letters that one call may name. */
const MOST_IDS = 1_000
const LONGEST_REASON = 500

const Fingerprint = z
  .string('must be given once')
  .regex(/^[0-9a-f]{16}$/, 'must have 16 hex digits')

const Text = z.string('must be given once')
const filterFields = {
  queue: Text.pipe(QueueName).optional(),
  job: Text.pipe(JobName).optional(),
  fingerprint: Fingerprint.optional(),
  from: Instant.optional(),
  to: Instant.optional(),
}

export const LetterQuery = PageQuery.extend({
  ...filterFields,
  settled: z.enum(['yes', 'no', 'any'], 'must be yes, no or any').default('no'),
})
export const GroupQuery = PageQuery.extend(filterFields)

/** The query of `GET /dead-letters`. Throws a `Problem` that names every bad field. */
export function readLetterQuery(query: unknown): {
  filters: DeadLetterFilters & { settled: Settled }
  page: PageRequest
} {
  const { limit, cursor, ...filters } = parseRequest(LetterQuery, query, 'query')
  return {
    filters: withoutUndefined<DeadLetterFilters & { settled: Settled }>(filters),
    page: withoutUndefined<PageRequest>({ limit, cursor }),
  }
}

/** The query of `GET /dead-letters/groups`. Throws a `Problem` that names every bad field. */
export function readGroupQuery(query: unknown): { filters: DeadLetterFilters; page: PageRequest } {
  const { limit, cursor, ...filters } = parseRequest(GroupQuery, query, 'query')
  return {
    filters: withoutUndefined<DeadLetterFilters>(filters),
    page: withoutUndefined<PageRequest>({ limit, cursor }),
  }
}

const IDS_RULE = `must be a list of 1 to ${MOST_IDS} ids of runs`
const RATE_RULE = 'must be a number of runs a second, above 0 and at most 1000'
const REASON_RULE = `must be a text of 1 to ${LONGEST_REASON} characters`

/** Which letters: by id, by what they have in common, or all. */
const which = {
  ids: z
    .array(z.uuid('must be the id of a run').toLowerCase(), IDS_RULE)
    .min(1, IDS_RULE)
    .max(MOST_IDS, IDS_RULE)
    .optional(),
  filter: z
    .strictObject(filterFields, 'must be an object')
    .refine(
      (filter) => Object.values(filter).some((value) => value !== undefined),
      'must say something; for every dead letter send "all": true',
    )
    .optional(),
  all: z.literal(true, 'must be true, or left out').optional(),
}

export const RedriveBody = z.strictObject({
  ...which,
  rate: z.number(RATE_RULE).gt(0, RATE_RULE).max(1_000, RATE_RULE).optional(),
  canary: z.boolean('must be true or false').default(false),
})
export const DiscardBody = z.strictObject({
  ...which,
  reason: z
    .string(REASON_RULE)
    .trim()
    .min(1, REASON_RULE)
    .max(LONGEST_REASON, REASON_RULE)
    .regex(/^[^\0]*$/, 'must not have the character U+0000')
    .transform(wellFormed),
  cursor: PageQuery.shape.cursor,
})

export type Which = { ids: string[] } | { filters: DeadLetterFilters }

/** The body of `POST /dead-letters/redrive`. Throws a `Problem` that names every bad field. */
export function readRedriveRequest(body: unknown): {
  which: Which
  rate: number | undefined
  canary: boolean
} {
  const { rate, canary, ...rest } = parseRequest(RedriveBody, body, 'body')
  return { which: whichOf(rest), rate, canary }
}

/** The body of `POST /dead-letters/discard`. Throws a `Problem` that names every bad field. */
export function readDiscardRequest(body: unknown): {
  which: Which
  reason: string
  cursor: string | undefined
} {
  const { reason, cursor, ...rest } = parseRequest(DiscardBody, body, 'body')
  if (rest.ids && cursor !== undefined)
    throw fieldProblem('bad-request', 'cursor', 'goes with "filter" or "all", not with "ids"')
  return { which: whichOf(rest), reason, cursor }
}

type GivenFilter = NonNullable<z.infer<typeof RedriveBody>['filter']>

function whichOf(given: {
  ids?: string[] | undefined
  filter?: GivenFilter | undefined
  all?: true | undefined
}): Which {
  const { ids, filter, all } = given
  const count = [ids, filter, all].filter((value) => value !== undefined).length
  if (count !== 1)
    throw fieldProblem('bad-request', 'ids', 'or "filter" or "all": true must be given, just one')
  if (ids) return { ids: [...new Set(ids)] }
  return { filters: withoutUndefined<DeadLetterFilters>(filter ?? {}) }
}
