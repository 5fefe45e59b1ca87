import { AlertMessage, type AlertText, alertText } from '@jadwal/domain'
import type { AnyJob } from '@jadwal/sdk'
import { z } from 'zod'
import { alertJob } from './alert-job.ts'
import { type PostDeps, postMessage } from './alert-post.ts'
import { channelUrl } from './alert-webhook.ts'

/** Slack refuses a section that is longer. */
const LONGEST_SECTION = 2_900
const LONGEST_HEADER = 150

/** `alert.slack`: the message for an incoming webhook of Slack, or of what takes the same. */
export function alertSlack(deps: PostDeps): AnyJob {
  return alertJob({
    name: 'alert.slack',
    description: 'Tells a Slack-compatible webhook of an alert.',
    payload: z.strictObject({ channel: z.string(), url: channelUrl, message: AlertMessage }),
    redact: ['url'],
    async handler({ url, message }, ctx) {
      return await postMessage(deps, { url, body: slackBody(alertText(message)) }, ctx)
    },
  })
}

/** Mattermost and others show `text`, Slack the blocks. */
function slackBody({ subject, facts, examples, advice, link }: AlertText) {
  const lines = [
    ...facts.map(({ label, text }) => `*${label}:* ${escape(text)}`),
    ...examples.map(({ text, link: to }) =>
      to === undefined ? `• ${escape(text)}` : `• <${to}|${escape(text).replaceAll('|', '¦')}>`,
    ),
    escape(advice),
    ...(link === undefined ? [] : [`<${link}|Open Jadwal>`]),
  ]
  const section = fitting(lines).join('\n')
  return {
    text: `${escape(subject)}\n${section}`,
    blocks: [
      {
        type: 'header',
        text: { type: 'plain_text', text: subject.slice(0, LONGEST_HEADER), emoji: false },
      },
      { type: 'section', text: { type: 'mrkdwn', text: section } },
    ],
  }
}

/** The lines that fit into a section, each whole: half a link is none. */
function fitting(lines: readonly string[]): string[] {
  let left = LONGEST_SECTION
  return lines.filter((line) => {
    left -= line.length + 1
    return left >= 0
  })
}

/** Also keeps a text from calling people: `<!channel>`. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
