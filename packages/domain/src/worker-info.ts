import { z } from 'zod'

/** How many runs of a queue may start in a time, over all its workers. */
export const QueueRate = z.object({ max: z.int().positive(), perMs: z.int().positive() })
export type QueueRate = z.infer<typeof QueueRate>

/** A worker's heartbeat. */
export const WorkerInfo = z.object({
  instance: z.string(),
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  startedAt: z.iso.datetime(),
  seenAt: z.iso.datetime(),
  state: z.enum(['running', 'draining']),
  queues: z.array(z.object({ name: z.string(), concurrency: z.int(), rate: QueueRate.optional() })),
  /** Runs in hand right now; the list is cut at 100. */
  running: z.array(
    z.object({ id: z.uuid(), job: z.string(), attempt: z.int(), startedAt: z.iso.datetime() }),
  ),
  runningCount: z.int(),
  memoryBytes: z.int(),
})
export type WorkerInfo = z.infer<typeof WorkerInfo>
