import { Fuse, JobDescription, WorkerInfo } from '@jadwal/domain'
import { z } from 'zod'
import { At, wholeListOf } from './answer-parts.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'

/** A job of the catalogue, with how its fuse stands if it has one. */
export const JobSchema = JobDescription.extend({
  fuse: Fuse.extend({
    state: z.enum(['closed', 'open', 'probing']),
    openUntil: At.optional().describe('Of an open fuse: when a run is let through as a probe.'),
    parked: z.int().describe('Runs that wait for it.'),
  }).optional(),
}).meta({ id: 'Job', description: 'A job that workers serve.' })
export type JobAnswer = z.infer<typeof JobSchema>

const Counts = z.strictObject({
  waiting: z.int(),
  prioritized: z.int(),
  delayed: z.int(),
  active: z.int(),
  failed: z.int(),
  completed: z.int(),
})

export const PauseOfQueue = z
  .strictObject({ by: z.string(), at: At, reason: z.string().optional() })
  .nullable()
  .describe('Who paused it and why; null when it is not paused, or was not by Jadwal.')

export const QueueSchema = z
  .strictObject({
    name: z.string(),
    counts: Counts.describe("Messages by BullMQ's state. Those of a paused queue are waiting."),
    deadLetters: z.int(),
    paused: z.boolean(),
    pause: PauseOfQueue,
    oldestWaitingSeconds: z
      .number()
      .nullable()
      .describe('Age of the run that is taken next; null when none waits.'),
    outboxDepth: z.int().describe('Facts on their way to the history.'),
  })
  .meta({ id: 'Queue' })
export type QueueAnswer = z.infer<typeof QueueSchema>

const WorkerSchema = WorkerInfo.meta({ id: 'Worker', description: 'A worker that lives.' })
export type WorkerAnswer = z.infer<typeof WorkerSchema>

const JOB_EXAMPLE: JobAnswer = {
  name: 'email.send',
  queue: 'emails',
  attempts: 3,
  backoff: { type: 'exponential', delayMs: 1_000, maxDelayMs: 60_000, jitter: 0.5 },
  timeoutMs: 60_000,
  payloadSchema: { type: 'object', properties: { to: { type: 'string', format: 'email' } } },
}
const QUEUE_EXAMPLE: QueueAnswer = {
  name: 'emails',
  counts: { waiting: 3, prioritized: 0, delayed: 1, active: 2, failed: 0, completed: 0 },
  deadLetters: 0,
  paused: false,
  pause: null,
  oldestWaitingSeconds: 0.4,
  outboxDepth: 0,
}
const WORKER_EXAMPLE: WorkerAnswer = {
  instance: EXAMPLE.worker,
  host: 'worker-1',
  pid: 4_711,
  version: '0.1.0',
  startedAt: EXAMPLE.at,
  seenAt: EXAMPLE.later,
  state: 'running',
  queues: [{ name: 'emails', concurrency: 10 }],
  running: [{ id: EXAMPLE.run, job: 'email.send', attempt: 1, startedAt: EXAMPLE.at }],
  runningCount: 1,
  memoryBytes: 92_000_000,
}

export const listJobsDoc: OperationDoc = {
  id: 'listJobs',
  summary: 'The jobs that workers serve',
  answers: listed(wholeListOf(JobSchema), JOB_EXAMPLE),
}

export const listQueuesDoc: OperationDoc = {
  id: 'listQueues',
  summary: 'The queues, and how much lies in them',
  answers: listed(wholeListOf(QueueSchema), QUEUE_EXAMPLE),
}

export const listWorkersDoc: OperationDoc = {
  id: 'listWorkers',
  summary: 'The workers that live',
  answers: listed(wholeListOf(WorkerSchema), WORKER_EXAMPLE),
}

function listed(schema: z.ZodType, item: unknown): OperationDoc['answers'] {
  const example = { items: [item], nextCursor: null }
  return { 200: { description: 'All of them.', schema, example } }
}
