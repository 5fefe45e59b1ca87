import { z } from 'zod'
import { ScheduleName } from './names.ts'
import { ScheduleSpec } from './schedule.ts'
import { describeIssues, unknownKey } from './schedule-problem.ts'

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
  if (!shape.success) {
    const problems = describeIssues(shape.error.issues, { root: document, keys: Shape.shape })
    return { ok: false, problems }
  }
  const { schedules: written, prune } = shape.data
  const { defaults, problems } = readDefaults(shape.data.defaults)
  // zod leaves this one key out of records without a word.
  if (Object.hasOwn(Object(Reflect.get(Object(document), 'schedules')), '__proto__'))
    problems.push('schedules.__proto__: is not a name that a schedule can have')
  const schedules: ScheduleFile['schedules'] = []
  for (const [name, fields] of Object.entries(written)) {
    const input = { ...defaultsFor(defaults, fields), ...fields }
    const spec = ScheduleSpec.safeParse(input)
    if (spec.success) schedules.push({ name, input, spec: spec.data })
    else problems.push(...scheduleProblems(spec.error.issues, { name, input }))
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, file: { prune, schedules } }
}

/** An unknown key of the defaults is one problem, not one of each schedule. */
function readDefaults(written: Record<string, unknown>): {
  defaults: Record<string, unknown>
  problems: string[]
} {
  const entries = Object.entries(written)
  const known = entries.filter(([key]) => key in ScheduleSpec.shape)
  const unknown = entries.filter(([key]) => !(key in ScheduleSpec.shape)).map(([key]) => key)
  return {
    defaults: Object.fromEntries(known),
    problems: unknown.map((key) => unknownKey(['defaults', key], ScheduleSpec.shape)),
  }
}

function scheduleProblems(
  issues: z.core.$ZodIssue[],
  { name, input }: { name: string; input: unknown },
): string[] {
  return describeIssues(issues, {
    base: ['schedules', name],
    root: input,
    keys: ScheduleSpec.shape,
  })
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
