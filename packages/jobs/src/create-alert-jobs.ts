import { type AnyJob, systemClock } from '@jadwal/sdk'
import { alertEmail } from './alert-email.ts'
import { alertSlack } from './alert-slack.ts'
import { alertWebhook } from './alert-webhook.ts'
import { openAgent } from './http-exchange.ts'
import type { Settings } from './settings.ts'

/** The jobs that tell people of alerts, which every worker has beside those of its module. */
export function createAlertJobs(settings: Pick<Settings, 'smtpUrl'>): readonly AnyJob[] {
  const deps = { dispatcher: openAgent(), clock: systemClock }
  return [alertWebhook(deps), alertSlack(deps), alertEmail(settings)]
}
