import { z } from 'zod'

const Pattern = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\*?$|^\*$/,
    'must be a name, or the beginning of names and "*", such as billing.*',
  )

/** One pattern, or several of which one has to fit. */
const Patterns = z.union([Pattern, z.array(Pattern).min(1).max(20)])

const Labels = z.record(z.string().min(1).max(100), z.string().max(200))

/** What of the system something is about; what is left out fits all. */
export const AlertMatchers = z.strictObject({
  job: Patterns.optional(),
  queue: Patterns.optional(),
  schedule: Patterns.optional(),
  /** All of them, as runs have them of their schedules. */
  labels: Labels.optional(),
})
export type AlertMatchers = z.infer<typeof AlertMatchers>

/** What an alert is about, as far as it is about one. */
export const AlertSubject = z.object({
  job: z.string().optional(),
  queue: z.string().optional(),
  schedule: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
})
export type AlertSubject = z.infer<typeof AlertSubject>

/** Whether a subject is one of those meant. What a matcher asks for and the subject does not have does not fit. */
export function matchesSubject(matchers: AlertMatchers, subject: AlertSubject): boolean {
  const { job, queue, schedule, labels = {} } = matchers
  return (
    fits(job, subject.job) &&
    fits(queue, subject.queue) &&
    fits(schedule, subject.schedule) &&
    Object.entries(labels).every(([name, value]) => subject.labels?.[name] === value)
  )
}

/** Whether a name fits one of the patterns; any does where there is none. */
export function fits(patterns: string | readonly string[] | undefined, name?: string): boolean {
  if (patterns === undefined) return true
  if (name === undefined) return false
  const all = typeof patterns === 'string' ? [patterns] : patterns
  return all.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  )
}
