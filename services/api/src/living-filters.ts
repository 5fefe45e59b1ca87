import type { RunFilters } from '@jadwal/db'
import { firstUuidAt, isEnded, type RunFact } from '@jadwal/domain'

/** Whether a run that has no row yet could be what is looked for: one with an error or a late tick has one. */
export function mayBeLiving({ states, error, late }: RunFilters): boolean {
  if (error !== undefined || late === true) return false
  return states === undefined || states.some((state) => !isEnded(state))
}

/** The filters of the history, on what Redis knows of a run. Words are looked for in its search text alone. */
export function fitsFilters(run: RunFact, filters: RunFilters): boolean {
  const { job, queue, states, schedule, parent, backfill, idempotencyKey, from, to } = filters
  return (
    is(job, run.job) &&
    is(queue, run.queue) &&
    (states === undefined || states.includes(run.state)) &&
    is(schedule, run.schedule) &&
    is(parent?.toLowerCase(), run.parent_id) &&
    is(backfill?.toLowerCase(), run.backfill_id) &&
    is(idempotencyKey, run.idempotency_key) &&
    (from === undefined || run.id >= firstUuidAt(from.getTime())) &&
    (to === undefined || run.id < firstUuidAt(to.getTime())) &&
    hasLabels(run, filters.labels) &&
    hasWords(run, filters.q?.trim() ?? '')
  )
}

function is(wanted: string | undefined, value: string | null | undefined): boolean {
  return wanted === undefined || wanted === value
}

function hasLabels(run: RunFact, labels: Record<string, string> = {}): boolean {
  return Object.entries(labels).every(([name, value]) => run.labels?.[name] === value)
}

function hasWords(run: RunFact, q: string): boolean {
  if (q === '' || q.toLowerCase() === run.id || q === run.idempotency_key || q === run.job)
    return true
  const text = new Set(wordsOf(run.search ?? ''))
  const words = wordsOf(q)
  return words.length > 0 && words.every((word) => text.has(word))
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
