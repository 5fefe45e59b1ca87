import { AlertChannelInput, AlertRuleSpec, AlertSilenceSpec, AlertState } from '@jadwal/domain'
import { z } from 'zod'
import { At, pageOf } from '../answer-parts.ts'
import type { OperationDoc } from '../operation.ts'
import { Name, PageQuery } from '../run-query.ts'

const About = {
  name: z.string(),
  author: z.string(),
  revision: z.int().describe('Grows with each change.'),
  changedAt: At,
}
/** Rules, channels and silences have other fields by their kind. */
const Setting = z.looseObject(About).meta({ id: 'AlertSetting' })

const STAMP = { author: 'ana', revision: 1, changedAt: '2026-11-30T06:00:00.000Z' }
const RULE = {
  kind: 'dead-letter',
  parameters: { threshold: 1, window: '1h', groupBy: 'fingerprint' },
  matchers: { labels: { team: 'billing' } },
  for: '0s',
  repeatEvery: '4h',
  channels: ['billing-slack'],
  enabled: true,
}
const CHANNEL = { kind: 'webhook', url: 'https://example.com/hook', hmac: { secret: 'HOOK' } }
const SILENCE = {
  matchers: { rule: 'outbox', queue: 'emails' },
  from: '2026-12-01T20:00:00Z',
  until: '2026-12-01T22:00:00Z',
  reason: 'Postgres is moved',
}

const SettingParams = z.object({
  name: z.string().meta({ description: 'Its name.', examples: ['billing'] }),
})

interface SettingWords {
  /** Such as `AlertRule`, and in words. */
  id: string
  word: string
  schema: z.ZodType
  input: object
  shown: object
  about: string
}

export const RULE_WORDS: SettingWords = {
  id: 'AlertRule',
  word: 'alert rule',
  schema: AlertRuleSpec,
  input: RULE,
  shown: RULE,
  about: 'What is looked for, how long it must hold, and who is told how often.',
}
export const CHANNEL_WORDS: SettingWords = {
  id: 'AlertChannel',
  word: 'alert channel',
  schema: AlertChannelInput,
  input: CHANNEL,
  shown: { ...CHANNEL, url: { set: true }, default: false, enabled: true },
  about:
    'Where messages go. Addresses and keys are never shown again: `{ "set": true }` stands for one, and keeps it when it is sent back.',
}
export const SILENCE_WORDS: SettingWords = {
  id: 'AlertSilence',
  word: 'alert silence',
  schema: AlertSilenceSpec,
  input: SILENCE,
  shown: SILENCE,
  about: 'A time, with an end, for which nothing is sent of the alerts that it matches.',
}

/** The documents of the operations on one kind of setting. */
export function settingDocs({ id, word, schema, input, shown, about }: SettingWords) {
  const example = { name: 'billing', ...shown, ...STAMP }
  const answer = (description: string) => ({ description, schema: Setting, example })
  return {
    list: {
      id: `list${id}s`,
      summary: `List ${word}s`,
      description: about,
      query: PageQuery,
      answers: {
        200: {
          description: 'A page of them, by name.',
          schema: pageOf(Setting),
          example: { items: [example], nextCursor: null },
        },
      },
    },
    read: {
      id: `read${id}`,
      summary: `Look at one ${word}`,
      params: SettingParams,
      answers: { 200: answer(`The ${word}.`) },
    },
    put: {
      id: `put${id}`,
      summary: `Make or replace an ${word}`,
      description: about,
      params: SettingParams,
      body: { schema, example: input },
      answers: { 200: answer('It was replaced.'), 201: answer('It was made.') },
    },
    remove: {
      id: `delete${id}`,
      summary: `Delete an ${word}`,
      params: SettingParams,
      answers: { 204: { description: 'It is gone.' } },
    },
  } satisfies Record<string, OperationDoc>
}

export const testChannelDoc: OperationDoc = {
  id: 'testAlertChannel',
  summary: 'Send a test message to a channel',
  description: 'A run of the queue `alerts` sends it: follow the run to see whether it arrived.',
  params: SettingParams,
  answers: {
    202: {
      description: 'The run that sends it.',
      schema: z.strictObject({ id: z.uuid() }),
      example: { id: '0199f3a2-6b1e-7d44-9a2b-1c3d5e7f9a0b' },
    },
  },
}

const AlertSchema = z
  .strictObject({
    id: z.uuid(),
    rule: z.string(),
    kind: z.string(),
    state: z.enum(['open', 'closed']),
    group: z.string().describe('What tells it from the other alerts of its rule.'),
    subject: AlertState.shape.group.shape.subject,
    summary: z.string(),
    count: z.int(),
    isAtLeast: z.boolean().optional(),
    examples: AlertState.shape.group.shape.examples,
    since: At,
    closedAt: At.optional(),
    messages: z.int().describe('How many were sent, repetitions and the end included.'),
    lastSentAt: At.optional(),
    silencedUntil: At.optional().describe('The end of a silence that keeps it from being sent.'),
  })
  .meta({ id: 'Alert' })
export type AlertAnswer = z.infer<typeof AlertSchema>

const ChannelReportSchema = z.strictObject({
  name: z.string(),
  runId: z.uuid(),
  state: z.string(),
  attempt: z.int(),
  at: At,
  error: z.string().nullable(),
})

export const AlertsQuery = PageQuery.extend({
  state: z.enum(['open', 'closed'], 'must be open or closed').optional(),
  rule: Name.optional(),
})

export const AlertsAnswer = z
  .strictObject({
    items: z.array(AlertSchema),
    nextCursor: z.string().nullable(),
    channels: z
      .array(ChannelReportSchema)
      .nullable()
      .describe('The latest run that sent to each channel; null while the history is away.'),
    warnings: z.array(z.string()).describe('Why messages may not reach anybody.'),
  })
  .meta({ id: 'Alerts' })

export const listAlertsDoc: OperationDoc = {
  id: 'listAlerts',
  summary: 'List open and recent alerts',
  description:
    'Those first that began last. While the history is away: the open ones, as Redis has them.',
  query: AlertsQuery,
  answers: {
    200: {
      description: 'Alerts, how the channels fare, and what keeps messages from being sent.',
      schema: AlertsAnswer,
      example: {
        items: [
          {
            id: '0199f3a2-6b1e-7d44-9a2b-1c3d5e7f9a0b',
            rule: 'dead-letters',
            kind: 'dead-letter',
            state: 'open',
            group: 'emails email.send 1f2e3d4c5b6a7988',
            subject: { job: 'email.send', queue: 'emails' },
            summary: '1 run of email.send died: Error: no answer',
            count: 1,
            examples: [{ text: 'Error: no answer', runId: '0199f3a2-6b1e-7d44-9a2b-1c3d5e7f9a0c' }],
            since: '2026-11-30T06:00:00.000Z',
            messages: 1,
            lastSentAt: '2026-11-30T06:00:10.000Z',
          },
        ],
        nextCursor: null,
        channels: [],
        warnings: [],
      },
    },
  },
}
