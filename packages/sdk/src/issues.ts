import type { z } from 'zod'

/** One sentence for all issues: each with its place, the value that was given, and what is right. */
export function describeIssues(issues: readonly z.core.$ZodIssue[], root: unknown): string {
  return issues.map((issue) => describeIssue(issue, root)).join('; ')
}

function describeIssue(issue: z.core.$ZodIssue, root: unknown): string {
  const place = issue.path.map(String).join('.')
  const value = valueAt(root, issue.path)
  const shown = isPlain(value) ? ` (${JSON.stringify(value)})` : ''
  return `${place}${shown}${place || shown ? ': ' : ''}${issue.message}`
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const key of path)
    value = value !== null && typeof value === 'object' ? Reflect.get(value, key) : undefined
  return value
}

function isPlain(value: unknown): boolean {
  return (
    value === null ||
    value instanceof Date ||
    ['string', 'number', 'boolean'].includes(typeof value)
  )
}
