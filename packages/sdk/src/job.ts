import type { Backoff, Fuse, Isolation, OnLost, PayloadPath, Retention } from '@jadwal/domain'
import type { z } from 'zod'
import type { JobContext } from './job-context.ts'

/** How many runs of a job with one key may run at once, over all workers. */
export interface KeyLimit<T> {
  /** Made of the payload as the handler gets it; the empty text means no limit. */
  key(payload: T): string
  limit: number
}

/** A job with everything filled in: what `defineJob` returns and a worker serves. */
export interface Job<P extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly queue: string
  readonly description?: string
  /** The schema of the payload. The handler gets what parsing returns. */
  readonly payload: P
  readonly attempts: number
  readonly backoff: Backoff
  readonly timeoutMs: number
  readonly onLost: OnLost
  readonly isolate?: Isolation
  readonly memoryMb?: number
  readonly concurrency?: KeyLimit<z.output<P>>
  readonly fuse?: Fuse
  readonly searchable?: readonly PayloadPath[]
  readonly redact?: readonly PayloadPath[]
  readonly encrypt?: boolean
  readonly retention?: Retention
  /** One attempt. What it returns (JSON) is the run's result; what it throws fails the attempt. */
  handler(payload: z.output<P>, ctx: JobContext): unknown
}

/** A job whose payload is not known here. */
export type AnyJob = Job
