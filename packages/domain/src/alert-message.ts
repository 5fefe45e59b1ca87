import { z } from 'zod'
import { AlertSubject } from './alert-matchers.ts'

/** What a message says of an alert: what a webhook gets as JSON, and what a mail is written of. No payloads, no secrets. */
export const AlertMessage = z.strictObject({
  version: z.literal(1),
  /** It began, it goes on, it is over; or somebody tries the channel. */
  event: z.enum(['opened', 'repeated', 'resolved', 'test']),
  /** The same in all messages of one alert. */
  alertId: z.string(),
  /** Of the messages of this alert, from 1. */
  sequence: z.int(),
  rule: z.string(),
  kind: z.string(),
  subject: AlertSubject,
  /** What happened, in one line. */
  title: z.string(),
  /** When it began, when the message fell due and, where it is over, when it ended; ISO 8601. */
  since: z.string(),
  at: z.string(),
  endedAt: z.string().optional(),
  /** How many there are, as far as the rule counts. */
  count: z.int(),
  isAtLeast: z.boolean().optional(),
  examples: z.array(
    z.strictObject({
      text: z.string(),
      at: z.string().optional(),
      runId: z.string().optional(),
      link: z.string().optional(),
    }),
  ),
  /** Where there is more to see, if it is known how people reach the api. */
  link: z.string().optional(),
  /** What can be done. */
  advice: z.string(),
})
export type AlertMessage = z.infer<typeof AlertMessage>

/** How a message is told that is not a JSON document. */
export interface AlertText {
  subject: string
  /** Short lines that belong together, below each other. */
  facts: readonly { label: string; text: string }[]
  examples: readonly { text: string; link: string | undefined }[]
  advice: string
  link: string | undefined
}

/** The words of a message, the same for every channel. */
export function alertText(message: AlertMessage): AlertText {
  const { event, title, since, endedAt, count, isAtLeast, rule, examples, link } = message
  const facts = [
    { label: 'Rule', text: rule },
    { label: 'Since', text: since },
    ...(endedAt === undefined
      ? []
      : [
          { label: 'Until', text: endedAt },
          { label: 'Lasted', text: roughly(Date.parse(endedAt) - Date.parse(since)) },
        ]),
    ...(event === 'test' || count <= 1
      ? []
      : [{ label: 'Count', text: isAtLeast === true ? `${count} or more` : String(count) }]),
  ]
  return {
    subject: `[Jadwal] ${PREFIX[event]}${title}`,
    facts,
    examples: examples.map(({ text, at, link: to }) => ({
      text: at === undefined ? text : `${at} ${text}`,
      link: to,
    })),
    advice: event === 'resolved' ? 'Nothing is left to do.' : message.advice,
    link,
  }
}

const PREFIX = { opened: '', repeated: 'Still: ', resolved: 'Resolved: ', test: 'Test: ' } as const

/** A length of time in words that people read, such as `2 h 5 min`. */
export function roughly(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.round(hours / 24)} days`
}
