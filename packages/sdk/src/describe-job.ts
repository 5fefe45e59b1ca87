import type { JobDescription } from '@jadwal/domain'
import { z } from 'zod'
import type { AnyJob } from './job.ts'

/** The job as a worker publishes it, with its payload as JSON Schema: what may be sent, before defaults and transforms. */
export function describeJob(job: AnyJob): JobDescription {
  return {
    name: job.name,
    queue: job.queue,
    ...(job.description === undefined ? {} : { description: job.description }),
    attempts: job.attempts,
    backoff: job.backoff,
    timeoutMs: job.timeoutMs,
    onLost: job.onLost,
    ...(job.isolate === undefined ? {} : { isolate: job.isolate }),
    ...(job.memoryMb === undefined ? {} : { memoryMb: job.memoryMb }),
    ...(job.concurrency === undefined ? {} : { concurrency: { limit: job.concurrency.limit } }),
    ...(job.fuse === undefined ? {} : { fuse: job.fuse }),
    ...(job.searchable === undefined ? {} : { searchable: [...job.searchable] }),
    ...(job.redact === undefined ? {} : { redact: [...job.redact] }),
    ...(job.encrypt === undefined ? {} : { encrypt: job.encrypt }),
    ...(job.retention === undefined ? {} : { retention: job.retention }),
    payloadSchema: { ...z.toJSONSchema(job.payload, { io: 'input', unrepresentable: 'any' }) },
  }
}
