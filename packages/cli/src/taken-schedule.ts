import { isSecretRef, readScheduleFile } from '@jadwal/domain'

/** A schedule of the schedule file that an import writes. */
export interface TakenSchedule {
  name: string
  /** As the schedule file has them. */
  fields: Record<string, unknown>
  /** Lines above it in the file. */
  comment?: string
}

/** Why the schedule file would not take a schedule; undefined when it would. */
export function scheduleProblem(
  { name, fields }: TakenSchedule,
  defaults: Record<string, unknown>,
): string | undefined {
  const problem = payloadProblem(fields['payload'], { path: 'payload', depth: 0 })
  if (problem !== undefined) return problem
  const read = readScheduleFile({ version: 1, defaults, schedules: { [name]: fields } })
  return read.ok ? undefined : read.problems.join('; ')
}

const meant = new WeakSet()

/** A reference to a secret of the worker, meant as one. */
export function secretRef(secret: string): { secret: string } {
  const ref = { secret }
  meant.add(ref)
  return ref
}

/** Deeper, and writing it as YAML might run out of stack. */
const DEEPEST = 100

/** What a payload from outside may hold that the schedule file can't. */
function payloadProblem(
  value: unknown,
  { path, depth }: { path: string; depth: number },
): string | undefined {
  if (value === null || typeof value !== 'object' || meant.has(value)) return undefined
  if (depth > DEEPEST) return `its payload is nested more than ${DEEPEST} deep`
  if (isSecretRef(value))
    return `${path} has "secret" as its only key, which Jadwal would take for a reference to a secret of the worker`
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__') return `${path} has the key "__proto__", which is not kept`
    const found = payloadProblem(inner, { path: `${path}.${key}`, depth: depth + 1 })
    if (found !== undefined) return found
  }
  return undefined
}
