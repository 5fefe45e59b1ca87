import { type AlertChannel, type AlertMessage, ALERTS_QUEUE, type AlertRule } from '@jadwal/domain'
import { z } from 'zod'

/** Where a message goes: a channel, or the addresses that a schedule names. */
export interface AlertTarget {
  /** The name of the channel; of addresses `schedule`. */
  name: string
  /** The job whose run sends it, and what of its payload must not be shown. */
  job: { name: string; queue: string; redact?: string[] }
  /** Of its payload, what says where to. */
  to: Record<string, unknown>
}

/** The channel that stands for the addresses of schedules. */
const OF_SCHEDULES = 'schedule'
const Addresses = z
  .string()
  .transform((text) => text.split(/[,;\s]+/).filter((part) => part !== ''))
  .pipe(z.array(z.email()).min(1).max(50))

/**
 * Who is told of an alert of a rule: its channels, those marked `default` if it names none, and whom the
 * schedules that it is about name in their field `alert`: mail addresses, or a channel.
 */
export function alertTargets(
  channels: readonly AlertChannel[],
  { spec }: AlertRule,
  named: Iterable<string>,
): AlertTarget[] {
  const wanted = new Set(
    spec.channels ?? channels.filter((channel) => channel.spec.default).map(({ name }) => name),
  )
  const addresses = new Set<string>()
  for (const text of named) {
    if (channels.some(({ name }) => name === text)) wanted.add(text)
    else for (const address of Addresses.safeParse(text).data ?? []) addresses.add(address)
  }
  const found = channels.filter((channel) => channel.spec.enabled && wanted.has(channel.name))
  const targets = found.map(channelTarget)
  if (addresses.size === 0) return targets
  return [...targets, mailTarget(OF_SCHEDULES, { to: [...addresses].toSorted().slice(0, 50) })]
}

export function channelTarget({ name, spec }: AlertChannel): AlertTarget {
  switch (spec.kind) {
    case 'webhook': {
      const { url, hmac } = spec
      const job = { name: 'alert.webhook', queue: ALERTS_QUEUE, redact: ['url', 'hmac'] }
      return { name, job, to: { url, ...(hmac === undefined ? {} : { hmac }) } }
    }
    case 'slack':
      return {
        name,
        job: { name: 'alert.slack', queue: ALERTS_QUEUE, redact: ['url'] },
        to: { url: spec.url },
      }
    case 'email': {
      const { to, from } = spec
      return mailTarget(name, { to, ...(from === undefined ? {} : { from }) })
    }
  }
}

function mailTarget(name: string, to: Record<string, unknown>): AlertTarget {
  return { name, job: { name: 'alert.email', queue: ALERTS_QUEUE }, to }
}

/** The payload of the run that sends a message to a target. */
export function targetPayload({ name, to }: AlertTarget, message: AlertMessage) {
  return { channel: name, ...to, message }
}
