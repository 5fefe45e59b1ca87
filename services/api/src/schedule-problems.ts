import type { ScheduleProblem } from '@jadwal/domain'
import { type FieldError, Problem, type ProblemKind } from './problem.ts'

/** Who reads them mends them a few at a time. */
const MOST_TOLD = 100

/** Everything that is wrong with a schedule, a calendar or a file of them, as one `Problem`. */
export function scheduleProblem(
  kind: ProblemKind,
  problems: readonly (ScheduleProblem | FieldError)[],
): Problem {
  const told = problems.slice(0, MOST_TOLD)
  const more = problems.length - told.length
  const said = told.map(sentence).join('; ')
  return new Problem(kind, {
    detail: more > 0 ? `${said}; and ${more} more` : said,
    errors: told.map(({ field, message, value }) => ({ field, value, message })),
  })
}

function sentence({ field, message, value }: ScheduleProblem | FieldError): string {
  return `${field}${value === undefined ? '' : ` (${JSON.stringify(value)})`}: ${message}`
}
