import type { PageRequest, RunFilters } from '@jadwal/db'
import { RunState } from '@jadwal/domain'
import { z } from 'zod'
import { parseRequest } from './zod-problem.ts'

/** Postgres has no text with this character in it. */
const NO_NUL = /^[^\0]*$/
const NUL_RULE = 'must not have the character U+0000'

/** A text that Postgres and JSON can keep: a surrogate without its other half becomes U+FFFD. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

export const Name = z
  .string('must be given once')
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  .regex(NO_NUL, NUL_RULE)
export const Instant = z.iso
  .datetime({ offset: true, error: 'must be an instant such as 2026-01-31T08:00:00Z' })
  .transform((text) => new Date(text))

const LABEL_RULE = 'must be name:value, such as team:billing'
const Label = z
  .string(LABEL_RULE)
  .regex(/^[^:]+:/, LABEL_RULE)
  .regex(NO_NUL, NUL_RULE)

/** The query of a list: how many, and from where on. */
export const PageQuery = z.strictObject({
  limit: z
    .string('must be given once')
    .regex(/^([1-9]\d?|1\d\d|200)$/, 'must be a whole number from 1 to 200')
    .meta({ type: 'integer', minimum: 1, maximum: 200, default: 50 })
    .transform(Number)
    .optional(),
  cursor: z
    .string('must be given once')
    .max(200, 'must have at most 200 characters')
    .describe('The `nextCursor` of the page before.')
    .optional(),
})

/** Repeatable; all must hold. */
export const Labels = z
  .union([Label.transform((label) => [label]), z.array(Label)], LABEL_RULE)
  .transform((labels) => labels.map(splitLabel))
  .refine(haveOneValueEach, 'must have one value for each name: nothing has two')
  .transform((labels) => Object.fromEntries(labels))

const STATE_RULE = `must be one of ${RunState.options.join(', ')}`
const State = z.enum(RunState.options, STATE_RULE)
const States = z.union([State.transform((state) => [state]), z.array(State)], STATE_RULE)
const Text = z
  .string('must be given once')
  .max(200, 'must have at most 200 characters')
  .regex(NO_NUL, NUL_RULE)

/** The query of `GET /runs`. */
export const RunQuery = PageQuery.extend({
  job: Name.optional(),
  queue: Name.optional(),
  state: States.describe('Repeatable: any of these.').optional(),
  schedule: Name.describe('Name of a schedule, deleted ones too.').optional(),
  parent: z
    .uuid('must be the id of a run')
    .describe('The run whose handler enqueued it.')
    .optional(),
  backfill: z.uuid('must be the id of a backfill').optional(),
  error: Text.min(1, 'must not be empty')
    .describe('Name of the error that its last attempt ended with, such as `TypeError`.')
    .optional(),
  idempotencyKey: Text.min(1, 'must not be empty').optional(),
  label: Labels.describe('Repeatable: `name:value`; all must hold.').optional(),
  late: z
    .literal('true', "must be 'true', or be left out")
    .transform(() => true as const)
    .describe('Only ticks that were found to be late.')
    .optional(),
  from: Instant.describe('Enqueued, or its tick, at or after this.').optional(),
  to: Instant.describe('Enqueued, or its tick, before this.').optional(),
  q: Text.describe(
    'The id of a run, an idempotency key, the name of a job, or words: runs whose error message and searchable parts of the payload have all of them.',
  ).optional(),
})

/** The query of `GET /api/v1/runs`. Throws a `Problem` that names every bad field. */
export function readRunQuery(query: unknown): { filters: RunFilters; page: PageRequest } {
  const { limit, cursor, label, state, ...rest } = parseRequest(RunQuery, query, 'query')
  return {
    filters: withoutUndefined<RunFilters>({ ...rest, labels: label, states: state }),
    page: withoutUndefined<PageRequest>({ limit, cursor }),
  }
}

export function readPageQuery(query: unknown): PageRequest {
  return withoutUndefined<PageRequest>(parseRequest(PageQuery, query, 'query'))
}

function haveOneValueEach(labels: readonly (readonly [string, string])[]): boolean {
  const values = new Map(labels)
  return labels.every(([name, value]) => values.get(name) === value)
}

function splitLabel(label: string): [string, string] {
  const at = label.indexOf(':')
  return [label.slice(0, at), label.slice(at + 1)]
}

/** Leaves out what was not given, so that defaults hold. */
export function withoutUndefined<T extends object>(values: {
  [K in keyof T]: T[K] | undefined
}): T {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as unknown as T
}
