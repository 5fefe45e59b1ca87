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
  const read = readScheduleFile({ version: 1, defaults, schedules: { [name]: fields } })
  if (!read.ok) return read.problems.join('; ')
  const path = accidentalSecret(fields['payload'], 'payload')
  return path === undefined
    ? undefined
    : `${path} has "secret" as its only key, which Jadwal would take for a reference to a secret of the worker`
}

const meant = new WeakSet()

/** A reference to a secret of the worker, meant as one. */
export function secretRef(secret: string): { secret: string } {
  const ref = { secret }
  meant.add(ref)
  return ref
}

/** Where what was read only looks like a reference to a secret. */
function accidentalSecret(value: unknown, path: string): string | undefined {
  if (value === null || typeof value !== 'object' || meant.has(value)) return undefined
  if (isSecretRef(value)) return path
  for (const [key, inner] of Object.entries(value)) {
    const found = accidentalSecret(inner, `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}
