import { z } from 'zod'
import { EXAMPLE } from './examples.ts'
import type { AnswerDoc } from './operation.ts'

/** An instant of an answer: ISO 8601 in UTC. */
export const At = z.iso.datetime()

/** A page of a list. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({
    items: z.array(item),
    nextCursor: z
      .string()
      .nullable()
      .describe('Ask with it as `cursor` for the page that follows; null on the last one.'),
  })
}

/** A list that is answered whole. */
export function wholeListOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), nextCursor: z.null() })
}

/** The answer of a list whose items are as the example. */
export function listAnswer(schema: z.ZodType, ...items: unknown[]): Record<number, AnswerDoc> {
  const example = { items, nextCursor: null }
  return { 200: { description: 'A page of the list.', schema, example } }
}

/** What stands in a path for a run; likewise below. */
export const RunParams = idOf('a run', EXAMPLE.run)
export const DeadRunParams = idOf('a run', EXAMPLE.dead)
export const BackfillParams = idOf('a backfill', EXAMPLE.backfill)
export const RedriveParams = idOf('a redrive', EXAMPLE.redrive)
export const ScheduleParams = nameOf('a schedule', EXAMPLE.schedule)
export const CalendarParams = nameOf('a calendar', EXAMPLE.calendar)

function idOf(what: string, example: string) {
  return z.object({ id: z.uuid().meta({ description: `The id of ${what}.`, examples: [example] }) })
}

function nameOf(what: string, example: string) {
  const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/)
  return z.object({
    name: name.meta({ description: `The name of ${what}.`, examples: [example] }),
  })
}
