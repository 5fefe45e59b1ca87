import type { Clock } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { createMemoryGauge, PRODUCERS_STOP_AT } from './memory-watch.ts'
import type { PayloadCipher } from './payload-cipher.ts'
import { type DiscardResult, discardLetters } from './discard-letters.ts'
import { QueueOpener } from './open-queue.ts'
import { Patience } from './patience.ts'
import {
  type LetterToRedrive,
  redriveLetters,
  type RedriveRequest,
  type RedriveResult,
} from './redrive-letters.ts'
import { answering, tryLater } from './redis-trouble.ts'

/** Settles dead letters. Errors are those of a producer; whatever was not done can be asked for again. */
export interface DeadLetters {
  /**
   * Makes a new run of each letter, the same one however often and by however many it is asked for, and
   * takes the letters out. One that was trimmed or lost is redriven from the copy that is given.
   */
  redrive(
    letters: readonly LetterToRedrive[],
    request: Omit<RedriveRequest, 'nowMs'>,
  ): Promise<RedriveResult[]>
  /** Takes letters out with a reason, for good. */
  discard(
    letters: readonly { id: string; queue: string }[],
    request: { by: string; reason: string },
  ): Promise<DiscardResult[]>
  close(): Promise<void>
}

export interface DeadLettersDeps {
  /** A producer's connection. */
  redis: Redis
  prefix: string
  clock: Pick<Clock, 'now' | 'monotonicMs'>
  onError: (error: Error) => void
  /** Opens encrypted payloads, and encrypts them anew; without it such letters are refused. */
  cipher?: PayloadCipher | undefined
}

export function createDeadLetters({
  redis,
  prefix,
  clock,
  onError,
  cipher,
}: DeadLettersDeps): DeadLetters {
  const memoryUse = createMemoryGauge(redis, clock)
  const opener = new QueueOpener(redis, onError)
  const patience = new Patience(redis)
  const nowMs = (): number => clock.now().getTime()
  return {
    async redrive(letters, request) {
      return await answering(async () => {
        await patience.ready()
        if ((await patience.for(Promise.resolve(memoryUse()))) >= PRODUCERS_STOP_AT)
          throw tryLater()
        const deps = { redis, prefix, opener, patience, cipher }
        return await redriveLetters(deps, letters, { ...request, nowMs: nowMs() })
      })
    },
    async discard(letters, request) {
      return await answering(async () => {
        await patience.ready()
        const deps = { redis, prefix, patience }
        return await discardLetters(deps, letters, { ...request, nowMs: nowMs() })
      })
    },
    async close() {
      await opener.close()
    },
  }
}
