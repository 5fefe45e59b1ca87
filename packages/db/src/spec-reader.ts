import { ScheduleSpec } from '@jadwal/domain'

/** A stored rule: what it says but for the payload, and the payload, both as JSON. */
export interface StoredSpec {
  rule: string
  payload: string | null
}

export type ReadSpec = { spec: ScheduleSpec } | { problem: string }

/**
 * Parses stored rules. Thousands of schedules differ in their payload alone, or not at all: what is
 * equal is parsed once and shared. One reader is for one load.
 */
export class SpecReader {
  readonly #rules = new Map<string, ReadSpec>()

  read({ rule, payload }: StoredSpec): ReadSpec {
    const known = this.#rules.get(rule) ?? readRule(rule)
    this.#rules.set(rule, known)
    if (payload === null || 'problem' in known) return known
    const parsed = ScheduleSpec.shape.payload.safeParse(JSON.parse(payload))
    if (!parsed.success) return { problem: problemOf(parsed.error.issues, ['payload']) }
    return { spec: { ...known.spec, payload: parsed.data } }
  }
}

function readRule(rule: string): ReadSpec {
  const parsed = ScheduleSpec.safeParse(JSON.parse(rule))
  return parsed.success ? { spec: parsed.data } : { problem: problemOf(parsed.error.issues, []) }
}

function problemOf(
  issues: readonly { path: PropertyKey[]; message: string }[],
  under: readonly string[],
): string {
  return issues
    .map(({ path, message }) => `${[...under, ...path.map(String)].join('.')}: ${message}`)
    .join('; ')
}
