import type { Redis } from 'ioredis'
import { stepDownChannel } from './keys.ts'

/** Asks the leader to end its term. It may miss the message: ask again until another one leads. */
export async function askToStepDown(redis: Redis, prefix: string, term: number): Promise<void> {
  await redis.publish(stepDownChannel(prefix), String(term))
}
