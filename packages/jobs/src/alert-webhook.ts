import { AlertMessage } from '@jadwal/domain'
import type { AnyJob } from '@jadwal/sdk'
import { z } from 'zod'
import { alertJob } from './alert-job.ts'
import { type PostDeps, postMessage } from './alert-post.ts'

export const channelUrl = z.url({ protocol: /^https?$/ })

/** `alert.webhook`: the message as JSON, signed where the channel has a key. */
export function alertWebhook(deps: PostDeps): AnyJob {
  return alertJob({
    name: 'alert.webhook',
    description: 'Tells a webhook of an alert.',
    payload: z.strictObject({
      channel: z.string(),
      url: channelUrl,
      hmac: z.string().min(1).optional(),
      message: AlertMessage,
    }),
    redact: ['url', 'hmac'],
    async handler({ url, hmac, message }, ctx) {
      const headers = { 'x-jadwal-event': `alert.${message.event}` }
      return await postMessage(deps, { url, hmac, headers, body: message }, ctx)
    },
  })
}
