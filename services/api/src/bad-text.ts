import type { Request } from 'express'
import { fieldProblem, Problem } from './problem.ts'

/** Postgres' words for U+0000 in a text or in JSON, and for half of a surrogate pair in JSON. */
const CODES: ReadonlySet<string> = new Set(['22021', '22P05'])
const HALF_PAIR = /Unicode (high|low) surrogate/
const RULE = 'must not have the character U+0000, nor half of a surrogate pair'
const BAD = /\0|\p{Surrogate}/u

/** Whether Postgres has refused a text that it has no characters for. */
export function isBadText(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  if (CODES.has(String(error.code))) return true
  return 'detail' in error && HALF_PAIR.test(String(error.detail))
}

/** The problem of such a text, which names the field of the request that has it. */
export function badTextProblem({ params, query, body }: Partial<Request>): Problem {
  const field = [params, query, body as unknown].map((part) => fieldOf(part)).find(Boolean)
  if (field !== undefined) return fieldProblem('bad-request', field, RULE)
  return new Problem('bad-request', { detail: `A text ${RULE}.` })
}

function fieldOf(value: unknown, path: readonly string[] = []): string | undefined {
  if (typeof value === 'string') return BAD.test(value) ? path.join('.') || 'body' : undefined
  if (value === null || typeof value !== 'object') return undefined
  for (const [name, member] of Object.entries(value)) {
    const field = BAD.test(name) ? [...path, 'a name'].join('.') : fieldOf(member, [...path, name])
    if (field !== undefined) return field
  }
  return undefined
}
