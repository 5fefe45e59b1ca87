import { type JobDescription, keptPayload, type PayloadRules, RunMessage } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { readableMessage } from './readable-message.ts'
import { findJob } from './registry.ts'

/**
 * What of a message's data may be recorded or shown, by the newest definition of its job that a worker
 * has published; nothing of its payload where none has. `data` is what its JSON says.
 */
export async function keptMessage(
  redis: Redis,
  prefix: string,
  { job, data }: { job: string; data: unknown },
): Promise<RunMessage> {
  const message = readableMessage(data)
  const published = await findJob(redis, prefix, job)
  const rules = published && RunMessage.safeParse(data).success ? published : unread(published)
  return { ...message, ...keptPayload(message, rules) }
}

/** Paths mean nothing in a message whose form is not known here: where there are any, nothing is shown. */
function unread(job: JobDescription | undefined): PayloadRules | undefined {
  return job && !job.redact?.length && !job.encrypt ? {} : undefined
}
