import { Document, Scalar, visit } from 'yaml'
import { CRON_DEFAULTS, type TakenSchedule } from './crontab-schedules.ts'

/** The schedule file, as YAML, of what was taken over from a file of that name. */
export function scheduleFileText(source: string, taken: readonly TakenSchedule[]): string {
  const schedules = Object.fromEntries(taken.map(({ name, fields }) => [name, fields]))
  const document = new Document(
    { version: 1, defaults: CRON_DEFAULTS, schedules },
    { aliasDuplicateObjects: false },
  )
  document.commentBefore = ` Taken over from ${source}. The defaults are what cron does.`
  visit(document, {
    Pair(_, { key, value }) {
      if (key instanceof Scalar && key.value === 'cron' && value instanceof Scalar)
        value.type = Scalar.QUOTE_DOUBLE
    },
  })
  return document.toString({ lineWidth: 0 })
}
