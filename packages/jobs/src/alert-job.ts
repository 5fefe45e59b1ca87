import { ALERTS_QUEUE } from '@jadwal/domain'
import { defineJob, type Job, type JobDefinition } from '@jadwal/sdk'
import type { z } from 'zod'

const MINUTE_MS = 60_000

/** Waits 15 s, doubled up to 20 min: the eighth attempt is made about an hour after the first. */
const BACKOFF = { delayMs: MINUTE_MS / 4, maxDelayMs: 20 * MINUTE_MS, jitter: 0.2 }

/**
 * A job that sends messages of alerts. It is on a queue that `defineJob` keeps for Jadwal itself, and
 * neither the address nor the key of a channel is shown or recorded.
 */
export function alertJob<P extends z.ZodType>(
  definition: Omit<JobDefinition<P>, 'queue' | 'attempts' | 'backoff' | 'timeoutMs'>,
): Job<P> {
  const job = defineJob<P>({
    attempts: 8,
    backoff: BACKOFF,
    timeoutMs: 30_000,
    ...definition,
    queue: 'reserved',
  })
  return { ...job, queue: ALERTS_QUEUE }
}
