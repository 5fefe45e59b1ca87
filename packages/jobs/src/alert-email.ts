import { AlertMessage, type AlertText, alertText } from '@jadwal/domain'
import type { AnyJob } from '@jadwal/sdk'
import { z } from 'zod'
import { alertJob } from './alert-job.ts'
import { DEFAULT_FROM } from './email-send.ts'
import { sendMail } from './send-mail.ts'
import type { Settings } from './settings.ts'

/** `alert.email`: the message as a mail, whose id is that of the run. All mails of one alert are one thread. */
export function alertEmail(settings: Pick<Settings, 'smtpUrl'>): AnyJob {
  return alertJob({
    name: 'alert.email',
    description: 'Tells people of an alert by mail, over SMTP_URL.',
    payload: z.strictObject({
      channel: z.string(),
      to: z.array(z.email()).min(1).max(50),
      from: z.email().default(DEFAULT_FROM),
      message: AlertMessage,
    }),
    async handler({ to, from, message }, ctx) {
      // Another worker may know: the next attempt may be made there.
      if (settings.smtpUrl === undefined)
        throw new Error('SMTP_URL is not set: this worker does not know where to send mail')
      const { subject, text, html } = mailOf(alertText(message))
      const thread = `<alert-${message.alertId}@jadwal>`
      const mail = {
        to,
        from,
        subject,
        text,
        html,
        messageId: `<${ctx.runId}@jadwal>`,
        inReplyTo: thread,
        references: thread,
        headers: { 'auto-submitted': 'auto-generated', 'x-jadwal-alert': message.alertId },
      }
      const sent = await sendMail(settings.smtpUrl, mail, ctx.signal)
      return { messageId: sent.messageId, response: sent.response }
    },
  })
}

function mailOf(words: AlertText): { subject: string; text: string; html: string } {
  const { subject, facts, examples, advice, link } = words
  const text = [
    subject,
    '',
    ...facts.map(({ label, text: said }) => `${`${label}:`.padEnd(8)} ${said}`),
    ...(examples.length > 0 ? ['', 'Examples:'] : []),
    ...examples.map(
      ({ text: said, link: to }) => `- ${said}${to === undefined ? '' : `\n  ${to}`}`,
    ),
    '',
    advice,
    ...(link === undefined ? [] : ['', link]),
    '',
  ]
  return { subject, text: text.join('\n'), html: htmlOf(words) }
}

function htmlOf({ subject, facts, examples, advice, link }: AlertText): string {
  const rows = facts.map(
    ({ label, text }) => `<tr><th align="left">${escape(label)}</th><td>${escape(text)}</td></tr>`,
  )
  const items = examples.map(({ text, link: to }) => `<li>${linked(to, text)}</li>`)
  return [
    `<h2>${escape(subject)}</h2>`,
    `<table cellpadding="4">${rows.join('')}</table>`,
    items.length > 0 ? `<ul>${items.join('')}</ul>` : '',
    `<p>${escape(advice)}</p>`,
    link === undefined ? '' : `<p>${linked(link, 'Open Jadwal')}</p>`,
  ].join('\n')
}

function linked(to: string | undefined, text: string): string {
  return to === undefined ? escape(text) : `<a href="${escape(to)}">${escape(text)}</a>`
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
