import { alertRunId, type AlertMessage } from '@jadwal/domain'
import { IdempotencyConflictError, type Producer } from '@jadwal/queue'
import { type AlertTarget, targetPayload } from './alert-targets.ts'

/**
 * Enqueues the runs of a message, one a target. Who does it again for the same message, be it another
 * api, gets the same runs. Errors as of a producer; some may be enqueued by then.
 */
export async function sendAlert(
  producer: Producer,
  message: AlertMessage,
  targets: readonly AlertTarget[],
): Promise<void> {
  const { alertId, sequence, rule } = message
  const which = { alertId, sequence, atMs: Date.parse(message.at) }
  for (const target of targets) {
    const id = alertRunId(which, target.name)
    const labels = { channel: target.name, rule }
    try {
      await producer.enqueue(target.job, targetPayload(target, message), { id, labels })
    } catch (error) {
      // The run is there; meanwhile the alert has more to tell, or the channel was changed.
      if (!(error instanceof IdempotencyConflictError)) throw error
    }
  }
}
