import { alertRunId, type AlertMessage } from '@jadwal/domain'
import { IdempotencyConflictError, type Producer, RedisUnavailableError } from '@jadwal/queue'
import { type AlertTarget, targetPayload } from './alert-targets.ts'

export interface SentAlert {
  /** The names of the targets whose run is enqueued. */
  told: string[]
  /** What went wrong with the others. */
  errors: unknown[]
}

/**
 * Enqueues the runs of a message, one a target; one that fails keeps no other from its own, unless Redis is
 * away. Who does it again for the same message within a day, be it another api, gets the same runs.
 */
export async function sendAlert(
  producer: Producer,
  message: AlertMessage,
  targets: readonly AlertTarget[],
): Promise<SentAlert> {
  const { alertId, sequence, rule } = message
  const which = { alertId, sequence, atMs: Date.parse(message.at) }
  const sent: SentAlert = { told: [], errors: [] }
  for (const target of targets) {
    const id = alertRunId(which, target.name)
    const labels = { channel: target.name, rule }
    try {
      await producer.enqueue(target.job, targetPayload(target, message), { id, labels })
      sent.told.push(target.name)
    } catch (error) {
      // The run is there; meanwhile the alert has more to tell, or the channel was changed.
      if (error instanceof IdempotencyConflictError) sent.told.push(target.name)
      else sent.errors.push(error)
      if (error instanceof RedisUnavailableError) break
    }
  }
  return sent
}
