import { z } from 'zod'
import { ScheduleName } from './names.ts'
import { ScheduleSpec } from './schedule.ts'

/**
 * The schedule file after YAML. `defaults` fill what a schedule leaves out; `prune: true` removes
 * schedules that an earlier file made and this one no longer names.
 */
const Shape = z.strictObject({
  version: z.literal(1),
  prune: z.boolean().default(false),
  defaults: z.record(z.string(), z.unknown()).default({}),
  schedules: z.record(ScheduleName, z.record(z.string(), z.unknown())),
})

export interface ScheduleFile {
  prune: boolean
  /** Each schedule as written, with the file's defaults filled in, and parsed. */
  schedules: { name: string; input: Record<string, unknown>; spec: ScheduleSpec }[]
}

export type ScheduleFileResult =
  | { ok: true; file: ScheduleFile }
  | { ok: false; problems: string[] }

/** Checks a schedule file as a whole. Each problem names its place, the value, and what would be right. */
export function readScheduleFile(document: unknown): ScheduleFileResult {
  const shape = Shape.safeParse(document)
  if (!shape.success)
    return { ok: false, problems: shape.error.issues.map((issue) => describe([], issue, document)) }
  const problems: string[] = []
  const schedules: ScheduleFile['schedules'] = []
  for (const [name, written] of Object.entries(shape.data.schedules)) {
    const input = { ...defaultsFor(shape.data.defaults, written), ...written }
    const spec = ScheduleSpec.safeParse(input)
    if (spec.success) schedules.push({ name, input, spec: spec.data })
    else
      problems.push(
        ...spec.error.issues.map((issue) => describe(['schedules', name], issue, input)),
      )
  }
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, file: { prune: shape.data.prune, schedules } }
}

/** A default cadence gives way whole: `every` in a schedule drops `cron` and `offset` of the defaults. */
function defaultsFor(
  defaults: Record<string, unknown>,
  written: Record<string, unknown>,
): Record<string, unknown> {
  if (!('cron' in written) && !('every' in written)) return defaults
  const { cron: _cron, every: _every, offset: _offset, ...rest } = defaults
  return rest
}

function describe(base: string[], issue: z.core.$ZodIssue, root: unknown): string {
  const path = [...base, ...issue.path.map(String)]
  let value: unknown = root
  for (const key of issue.path)
    value = value !== null && typeof value === 'object' ? Reflect.get(value, key) : undefined
  const shown =
    value === undefined || (typeof value === 'object' && value !== null)
      ? ''
      : ` (${JSON.stringify(value)})`
  return `${path.join('.') || 'the file'}${shown}: ${issue.message}`
}
