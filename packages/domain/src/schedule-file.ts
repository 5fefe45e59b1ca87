import { z } from 'zod'
import { CalendarSpec } from './calendar.ts'
import { CalendarName, ScheduleName } from './names.ts'
import { ScheduleSpec } from './schedule.ts'
import { describeIssues, ScheduleProblem, unknownKey } from './schedule-problem.ts'

/**
 * The schedule file after YAML. `defaults` fill what a schedule leaves out; `prune: true` removes
 * schedules and calendars that an earlier file made and this one no longer names.
 */
const Shape = z.strictObject({
  version: z.literal(1),
  prune: z.boolean().default(false),
  defaults: z.record(z.string(), z.unknown()).default({}),
  calendars: z.record(z.string(), z.unknown()).default({}),
  schedules: z.record(z.string(), z.unknown()),
})

const Fields = z.record(z.string(), z.unknown())
/** What each of the file is, under its name. */
const Named = z.object({
  calendars: z.record(CalendarName, Fields).default({}),
  schedules: z.record(ScheduleName, Fields).default({}),
})

/** Whoever mends these looks again; more would only take time. */
const MOST_PROBLEMS = 500

/** Something of the file as written, the file's defaults filled in, and parsed. */
export interface Written<Spec> {
  name: string
  input: Record<string, unknown>
  spec: Spec
}

export interface ScheduleFile {
  prune: boolean
  schedules: Written<ScheduleSpec>[]
  calendars: Written<CalendarSpec>[]
}

export type ScheduleFileResult =
  | { ok: true; file: ScheduleFile }
  | { ok: false; problems: ScheduleProblem[] }

/** Checks a schedule file as a whole. Each problem names its place, the value, and what would be right. */
export function readScheduleFile(document: unknown): ScheduleFileResult {
  const reading = readScheduleFileStepwise(document)
  for (;;) {
    const step = reading.next()
    if (step.done) return step.value
  }
}

/** `readScheduleFile` for one who has other things to do: yields after each schedule and calendar. */
export function* readScheduleFileStepwise(
  document: unknown,
): Generator<undefined, ScheduleFileResult, undefined> {
  const shape = Shape.safeParse(document)
  if (!shape.success) {
    const problems = describeIssues(shape.error.issues, { root: document, keys: Shape.shape })
    return { ok: false, problems }
  }
  const { prune } = shape.data
  const { defaults, problems } = readDefaults(shape.data.defaults)
  // zod leaves this one key out of records without a word.
  for (const part of ['schedules', 'calendars']) {
    if (Object.hasOwn(Object(Reflect.get(Object(document), part)), '__proto__'))
      problems.push(new ScheduleProblem(`${part}.__proto__`, 'is not a name that one can have'))
  }
  const schedules: ScheduleFile['schedules'] = []
  for (const [name, written] of Object.entries(shape.data.schedules)) {
    yield
    if (problems.length >= MOST_PROBLEMS) break
    const { fields, wrong } = readFields('schedules', name, written)
    problems.push(...wrong)
    if (!fields) continue
    const input = { ...defaultsFor(defaults, fields), ...fields }
    const read = readSchedule(input, ['schedules', name])
    if (read.ok) schedules.push({ name, input, spec: read.spec })
    else problems.push(...read.problems)
  }
  const calendars: ScheduleFile['calendars'] = []
  for (const [name, written] of Object.entries(shape.data.calendars)) {
    yield
    if (problems.length >= MOST_PROBLEMS) break
    const { fields: input, wrong } = readFields('calendars', name, written)
    problems.push(...wrong)
    if (!input) continue
    const read = readCalendar(input, ['calendars', name])
    if (read.ok) calendars.push({ name, input, spec: read.spec })
    else problems.push(...read.problems)
  }
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, file: { prune, schedules, calendars } }
}

/** The fields of one schedule or calendar of the file; without them what is wrong with it. */
function readFields(
  part: 'schedules' | 'calendars',
  name: string,
  written: unknown,
): { fields?: Record<string, unknown>; wrong: ScheduleProblem[] } {
  const root = { [part]: { [name]: written } }
  const read = Named.safeParse(root)
  if (!read.success)
    return { wrong: describeIssues(read.error.issues, { root, keys: Shape.shape }) }
  const fields = read.data[part][name]
  return fields ? { fields, wrong: [] } : { wrong: [] }
}

export type ReadSpec<Spec> = { ok: true; spec: Spec } | { ok: false; problems: ScheduleProblem[] }

/** Checks one schedule as written. `base` is where it stands. */
export function readSchedule(input: unknown, base: readonly string[] = []): ReadSpec<ScheduleSpec> {
  return readSpec(ScheduleSpec, input, base)
}

/** Checks one calendar as written. `base` is where it stands. */
export function readCalendar(input: unknown, base: readonly string[] = []): ReadSpec<CalendarSpec> {
  return readSpec(CalendarSpec, input, base)
}

function readSpec<Spec>(
  schema: z.ZodType<Spec> & { shape: Record<string, unknown> },
  input: unknown,
  base: readonly string[],
): ReadSpec<Spec> {
  const spec = schema.safeParse(input)
  if (spec.success) return { ok: true, spec: spec.data }
  const problems = describeIssues(spec.error.issues, { base, root: input, keys: schema.shape })
  return { ok: false, problems }
}

/** An unknown key of the defaults is one problem, not one of each schedule. */
function readDefaults(written: Record<string, unknown>): {
  defaults: Record<string, unknown>
  problems: ScheduleProblem[]
} {
  const entries = Object.entries(written)
  const known = entries.filter(([key]) => key in ScheduleSpec.shape)
  const unknown = entries.filter(([key]) => !(key in ScheduleSpec.shape)).map(([key]) => key)
  return {
    defaults: Object.fromEntries(known),
    problems: unknown.map((key) => unknownKey(['defaults', key], ScheduleSpec.shape)),
  }
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
