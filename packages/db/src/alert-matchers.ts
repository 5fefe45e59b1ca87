import type { AlertMatchers } from '@jadwal/domain'
import { type RawBuilder, sql } from 'kysely'

/** Whether a row with the columns job, queue, schedule and labels is meant by matchers. */
export function ofMatchers({ job, queue, schedule, labels }: AlertMatchers): RawBuilder<boolean> {
  return sql<boolean>`(${ofNames('job', job)} AND ${ofNames('queue', queue)}
    AND ${ofNames('schedule', schedule)}
    AND ${labels === undefined ? sql`true` : sql`labels @> ${JSON.stringify(labels)}::jsonb`})`
}

/** Whether the column of a row with job and queue fits one of the patterns. */
export function ofNames(
  column: 'job' | 'queue' | 'schedule',
  patterns: string | readonly string[] | undefined,
): RawBuilder<boolean> {
  if (patterns === undefined) return sql<boolean>`true`
  const all = typeof patterns === 'string' ? [patterns] : patterns
  const fits = all.map((pattern) =>
    pattern.endsWith('*')
      ? sql`starts_with(${sql.ref(column)}, ${pattern.slice(0, -1)})`
      : sql`${sql.ref(column)} = ${pattern}`,
  )
  return sql<boolean>`(${sql.join(fits, sql` OR `)})`
}
