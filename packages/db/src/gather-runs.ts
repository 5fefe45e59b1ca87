import { type RawBuilder, sql } from 'kysely'
import { UUID } from './cursor.ts'
import type { Conditions } from './run-conditions.ts'

/**
 * The runs that runs_words_filters_idx finds: those with words, or with an error. It has what most other
 * filters ask for beside the words, so that a word and a job that many runs have, and few or none both,
 * cost no more than what is found.
 */
export function gatherCondition(conditions: Conditions): RawBuilder<boolean> | undefined {
  const { q = '', error } = conditions
  const others = filterConditions(conditions)
  if (q.trim() !== '') return hasWords(q.trim(), others)
  return error === undefined ? undefined : sql`(error IS NOT NULL AND ${sql.join(others, AND)})`
}

/** Served by runs_pkey, runs_words_filters_idx, runs_idempotency_key_idx and runs_job_queue_state_idx, together. */
export function hasWords(
  q: string,
  others: readonly RawBuilder<boolean>[] = [],
): RawBuilder<boolean> {
  const words = sql<boolean>`to_tsvector('simple',
    left(coalesce(error ->> 'message', ''), 8000) || ' ' || left(coalesce(search, ''), 8000))
    @@ plainto_tsquery('simple', ${q})`
  const text = sql.join([sql`(error IS NOT NULL OR search IS NOT NULL)`, words, ...others], AND)
  const id = UUID.test(q) ? sql`id = ${q.toLowerCase()}::uuid OR ` : sql``
  return sql`(${id}idempotency_key = ${q} OR job = ${q} OR (${text}))`
}

const AND = sql` AND `

/** The expression of the index. */
const FILTERS = sql`array_remove(ARRAY['job=' || job, 'queue=' || queue, 'state=' || state,
  'schedule=' || schedule_id::text, 'error=' || (error ->> 'name'),
  CASE WHEN late_at IS NOT NULL THEN 'late' END], NULL)`

/** What the index says of a run besides its words. */
function filterConditions(conditions: Conditions): RawBuilder<boolean>[] {
  const { job, queue, states, scheduleId, error, late, labels } = conditions
  const all = [
    ...(job === undefined ? [] : [`job=${job}`]),
    ...(queue === undefined ? [] : [`queue=${queue}`]),
    ...(scheduleId === undefined ? [] : [`schedule=${scheduleId}`]),
    ...(error === undefined ? [] : [`error=${error}`]),
    ...(late === undefined ? [] : ['late']),
  ]
  return [
    ...(all.length === 0 ? [] : [sql<boolean>`${FILTERS} @> ${all}::text[]`]),
    ...(states === undefined
      ? []
      : [sql<boolean>`${FILTERS} && ${states.map((state) => `state=${state}`)}::text[]`]),
    ...(Object.keys(labels ?? {}).length === 0
      ? []
      : [sql<boolean>`labels @> ${JSON.stringify(labels)}::jsonb`]),
  ]
}
