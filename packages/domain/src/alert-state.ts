import { z } from 'zod'
import { AlertSubject } from './alert-matchers.ts'

const Ms = z.int()

/** One thing that an alert is about. */
export const AlertExample = z.object({
  /** What happened, in a line; no payload. */
  text: z.string(),
  runId: z.string().optional(),
  at: z.string().optional(),
})
export type AlertExample = z.infer<typeof AlertExample>

/** What a rule finds of one group. */
export const AlertGroup = z.object({
  key: z.string(),
  subject: AlertSubject,
  /** In a few words. */
  summary: z.string(),
  /** How many there are; 1 where the rule does not count. */
  count: z.int(),
  /** More may be left out of the count. */
  isAtLeast: z.boolean().optional(),
  examples: z.array(AlertExample).max(5),
  /** When the first and the last of them happened. */
  firstMs: Ms.optional(),
  lastMs: Ms.optional(),
  /** The schedules among them, some. */
  schedules: z.array(z.string()).max(20).optional(),
})
export type AlertGroup = z.infer<typeof AlertGroup>

/** An alert: one time that a rule holds for one group, from when it was first seen to its end. */
export const AlertState = z.object({
  id: z.string(),
  rule: z.string(),
  kind: z.string(),
  /** As it was last seen. */
  group: AlertGroup,
  /** Pending: it does not hold long enough yet. Closed: it is over. */
  phase: z.enum(['pending', 'open', 'closed']),
  sinceMs: Ms,
  openedMs: Ms.optional(),
  /** Since when it is not seen any more. */
  absentMs: Ms.optional(),
  closedMs: Ms.optional(),
  /** Messages so far, whatever the number of channels. */
  sent: z.int(),
  lastSentMs: Ms.optional(),
  /** `lastMs` of the group, when the last message was made. */
  sentLastMs: Ms.optional(),
  /** A message that fell due and of which it is not known that all its runs are enqueued. */
  outstanding: z
    .object({
      kind: z.enum(['opened', 'repeated', 'resolved']),
      atMs: Ms,
      /** The targets whose run is known to be enqueued. */
      told: z.array(z.string()).optional(),
    })
    .optional(),
  /** Its end was told. */
  endTold: z.boolean().optional(),
  /** When it was changed last. */
  changedMs: Ms,
})
export type AlertState = z.infer<typeof AlertState>

/** What tells one alert of a rule from the others. */
export function alertKey({ rule, group }: { rule: string; group: { key: string } }): string {
  return `${rule}\n${group.key}`
}
