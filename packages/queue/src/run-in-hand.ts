import type { Redis } from 'ioredis'

/** A queue on a connection; `redis` may be shared. */
export interface LotDeps {
  redis: Redis
  prefix: string
  queue: string
  onError: (error: Error) => void
  /** Aborts when the worker stops. */
  stop?: AbortSignal | undefined
}

/** A run that a worker has in hand, before its handler was called. */
export interface RunInHand {
  readonly id: string
  /** Must still be in the message's lock. */
  readonly token: string
}
