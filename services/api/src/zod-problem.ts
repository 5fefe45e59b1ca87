import type { z } from 'zod'
import { type FieldError, Problem } from './problem.ts'

/** Parses what a caller sent. Throws a `Problem` that names every bad field. */
export function parseRequest<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const errors = parsed.error.issues.flatMap(fieldErrors)
  throw new Problem('bad-request', {
    detail: `${what}: ${errors.map(({ field, message }) => `${field} ${message}`).join('; ')}`,
    errors,
  })
}

/** The fields that an issue is about. */
export function fieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: [...issue.path, key].join('.'),
      message: 'is not known',
    }))
  }
  return [{ field: issue.path.join('.') || 'body', message: issue.message }]
}
