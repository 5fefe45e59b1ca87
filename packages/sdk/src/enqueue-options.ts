import { delayProblem, runAtProblem, type SecretRef, systemClock } from '@jadwal/domain'
import { clientIdProblem } from '@jadwal/queue'
import { z } from 'zod'

export interface EnqueueOptions {
  /** Waits this long, in ms, before the run is due; 5 years at most. */
  delayMs?: number
  /** The instant from which the run is due, within 5 years; goes before `delayMs`. */
  runAt?: Date
  /** 0 (first, the default) to 1000. */
  priority?: number
  /** How often the run is tried in all, instead of the job's own number. */
  attempts?: number
  /** The run's id, made with `newRunId()`: a call that is repeated with it within a day gives one run. */
  id?: string
  /** Calls of a job with the same key within 24 h give one run; with another payload they are refused. 1 to 200 characters. */
  idempotencyKey?: string
  /** Keeps the end of the run for `client.run(id)`, also if it comes before anybody asks. */
  follow?: boolean
}

/** What may be said of many runs of a job at once. */
export interface EnqueueManyOptions extends Omit<EnqueueOptions, 'id' | 'idempotencyKey'> {
  /** One for each payload. */
  ids?: readonly string[]
  /** One for each payload. */
  idempotencyKeys?: readonly string[]
}

/** A check of zod that has the words of `problemOf`. */
function without<T>(problemOf: (value: T) => string | undefined) {
  return (value: T, ctx: z.RefinementCtx): void => {
    const message = problemOf(value)
    if (message !== undefined) ctx.addIssue({ code: 'custom', message })
  }
}

const nowMs = (): number => systemClock.now().getTime()
const Common = z.strictObject({
  delayMs: z.number().min(0).superRefine(without(delayProblem)).optional(),
  runAt: z
    .date()
    .superRefine(without((runAt) => runAtProblem(runAt.getTime(), nowMs())))
    .optional(),
  priority: z.int().min(0).max(1_000).optional(),
  attempts: z.int().min(1).max(1_000).optional(),
  follow: z.boolean().optional(),
})
const IdempotencyKey = z.string().min(1).max(200)
const OwnId = z
  .uuidv7('must be a UUIDv7: make one with newRunId()')
  .superRefine(without((id) => clientIdProblem(id, nowMs())))

export const EnqueueOptionsShape = Common.extend({
  id: OwnId.optional(),
  idempotencyKey: IdempotencyKey.optional(),
})
export const EnqueueManyOptionsShape = Common.extend({
  ids: z.array(OwnId).optional(),
  idempotencyKeys: z.array(IdempotencyKey).optional(),
})

/** What may be sent as a payload: any text in it may be a reference to a secret of the worker. */
export type Sendable<T> = unknown extends T
  ? T
  : T extends string
    ? T | SecretRef
    : T extends object
      ? { [K in keyof T]: Sendable<T[K]> }
      : T
