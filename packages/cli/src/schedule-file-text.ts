import { Document, Scalar, visit } from 'yaml'
import type { TakenSchedule } from './taken-schedule.ts'

export interface WrittenFile {
  /** What stands above it all. */
  comment: string
  defaults: Record<string, unknown>
  taken: readonly TakenSchedule[]
}

/** The schedule file, as YAML. */
export function scheduleFileText({ comment, defaults, taken }: WrittenFile): string {
  const schedules = Object.fromEntries(taken.map(({ name, fields }) => [name, fields]))
  const document = new Document(
    { version: 1, defaults, schedules },
    { aliasDuplicateObjects: false },
  )
  const comments = new Map(taken.map(({ name, comment: above }) => [name, above]))
  document.commentBefore = asComment(comment)
  visit(document, {
    Pair(_, { key, value }, path) {
      if (!(key instanceof Scalar)) return
      if (key.value === 'cron' && value instanceof Scalar) value.type = Scalar.QUOTE_DOUBLE
      const above = path.length === NAME_DEPTH ? comments.get(String(key.value)) : undefined
      if (above !== undefined) key.commentBefore = asComment(above)
    },
  })
  return document.toString({ lineWidth: 0 })
}

/** Document, map, pair `schedules`, map. */
const NAME_DEPTH = 4

function asComment(text: string): string {
  return (
    text
      .split('\n')
      // No character may end the comment, such as a lone carriage return.
      .map((line) => ` ${line.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}`)
      .join('\n')
  )
}
