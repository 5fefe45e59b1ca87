import { z } from 'zod'

/** What a BullMQ message of a run carries beside its id (the run's) and its name (the job's). */
export const RunMessage = z.object({
  /** Version of this form. A worker leaves a message of a version that it does not know alone. */
  v: z.literal(1),
  payload: z.unknown(),
  /** Of a run that a schedule brought about. */
  schedule: z
    .object({
      id: z.uuid(),
      name: z.string(),
      /** Absent when it was triggered by hand. */
      tickAt: z.iso.datetime().optional(),
      /** Of the leader that fired it. */
      term: z.int().optional(),
      backfillId: z.uuid().optional(),
      /** When it is late, unless it has succeeded by then. */
      lateAt: z.iso.datetime().optional(),
    })
    .optional(),
  labels: z.record(z.string(), z.string()).optional(),
  /** Over the job's own. */
  attempts: z.int().min(1).optional(),
  timeoutMs: z.int().min(1).optional(),
  redriveOf: z.uuid().optional(),
  /** The run whose handler enqueued it. */
  parentId: z.uuid().optional(),
  idempotencyKey: z.string().optional(),
  /** Of an encrypted payload, what its job lets the history be searched for. */
  search: z.string().optional(),
})
export type RunMessage = z.infer<typeof RunMessage>
