import { createAlertJobs } from '@jadwal/jobs'
import { ALERTS_QUEUE } from '@jadwal/domain'
import { ConfigError } from '@jadwal/runtime'
import type { AnyJob } from '@jadwal/sdk'
import { Counter, type Registry } from 'prom-client'
import type { ServedQueue } from './queue-list.ts'

const CONCURRENCY = 5

/** The queues that a worker serves, and that of alerts among them, unless `JADWAL_QUEUES` says `alerts:0`. */
export function withAlerts(
  queues: readonly ServedQueue[],
  wanted: readonly ServedQueue[] | undefined,
): readonly ServedQueue[] {
  const own = wanted?.find(({ name }) => name === ALERTS_QUEUE)
  const others = queues.filter(({ name }) => name !== ALERTS_QUEUE)
  if (own?.concurrency === 0) return others
  return [...others, own ?? { name: ALERTS_QUEUE, concurrency: CONCURRENCY }]
}

/** The jobs that send messages of alerts, each message counted. Throws `ConfigError` where a job of the module has the name of one. */
export function alertJobs(
  settings: { smtpUrl?: string },
  { registry, jobs }: { registry: Registry; jobs: readonly AnyJob[] },
): readonly AnyJob[] {
  const messages = new Counter({
    name: 'jadwal_alert_messages_total',
    help: 'Attempts to send a message of an alert, by channel and outcome (sent, failed).',
    labelNames: ['channel', 'outcome'],
    registers: [registry],
  })
  const own = createAlertJobs(settings)
  const taken = jobs.find(({ name }) => own.some((job) => job.name === name))
  if (taken)
    throw new ConfigError([
      {
        variable: 'JADWAL_JOBS',
        problem: `must not define the job ${taken.name}, which is Jadwal's own`,
      },
    ])
  return own.map((job) => counted(job, messages))
}

function counted(job: AnyJob, messages: Counter): AnyJob {
  return {
    ...job,
    async handler(payload, ctx) {
      const channel = channelOf(payload)
      try {
        const result: unknown = await job.handler(payload, ctx)
        messages.inc({ channel, outcome: 'sent' })
        return result
      } catch (error) {
        messages.inc({ channel, outcome: 'failed' })
        throw error
      }
    },
  }
}

function channelOf(payload: unknown): string {
  return payload !== null && typeof payload === 'object' && 'channel' in payload
    ? String(payload.channel)
    : ''
}
