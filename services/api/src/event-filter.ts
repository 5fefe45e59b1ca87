import { EVENT_TYPES, RUN_EVENT_TYPES } from '@jadwal/domain'
import type { EventEntry } from '@jadwal/queue'

const ALL: readonly string[] = [...EVENT_TYPES, ...RUN_EVENT_TYPES]

/** Which events somebody wants to hear. What is absent says nothing. */
export interface EventFilter {
  types: ReadonlySet<string>
  job?: string | undefined
  queue?: string | undefined
  schedule?: string | undefined
}

/** The types that patterns mean, such as `tick.late`, `run.*` or `*`; undefined when one means none. */
export function typesOf(patterns: readonly string[]): ReadonlySet<string> | undefined {
  const found = patterns.map((pattern) => ALL.filter((type) => isMeant(pattern, type)))
  if (found.some((types) => types.length === 0)) return undefined
  return new Set(found.flat())
}

/** Whether a filter lets events through that exist only while somebody listens. */
export function wantsRuns({ types }: EventFilter): boolean {
  return RUN_EVENT_TYPES.some((type) => types.has(type))
}

/** An event has one job, queue or schedule, or several, or none, which then is not the one asked for. */
export function passes(filter: EventFilter, { type, data }: EventEntry): boolean {
  return (
    filter.types.has(type) &&
    has(data, 'job', filter.job) &&
    has(data, 'queue', filter.queue) &&
    has(data, 'schedule', filter.schedule)
  )
}

function isMeant(pattern: string, type: string): boolean {
  if (pattern === '*') return true
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern
}

function has(data: Record<string, unknown>, field: string, wanted: string | undefined): boolean {
  if (wanted === undefined || data[field] === wanted) return true
  const several = data[`${field}s`]
  return Array.isArray(several) && several.includes(wanted)
}
