import type { RunFact } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { WRITE_DEAD_LETTER } from './dead-letter.ts'
import { TELL_END } from './follow-lua.ts'
import { bullKey, companionPrefix, deadKey, outboxKey } from './keys.ts'
import { factLine } from './run-fact.ts'
import { LEAVE_SCHEDULE } from './unfinished-lua.ts'

/** A run that the history believes to be unfinished, and whose message is gone. */
export interface LostRun {
  id: string
  queue: string
  /** Its end. */
  fact: RunFact
  /** Whose unfinished run it was: the uuid of a schedule or backfill, or ''. */
  leaves: string
  letter: readonly string[]
}

/*
 * Ends a run whose message is gone.
 *   KEYS[1] outbox (STREAM)  KEYS[2] the run's message  KEYS[3] prefix of the dead letters' keys
 *   KEYS[4] prefix of the message keys  KEYS[5] prefix of the queue's companions
 *   ARGV[1] id  ARGV[2] fact  ARGV[3] whose unfinished run it was or ''  ARGV[4] n, and n fields and values of the dead letter
 *   Returns 1; or 0 and nothing done when the message is there after all.
 */
const SCRIPT = `${WRITE_DEAD_LETTER}${LEAVE_SCHEDULE}${TELL_END}
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('XADD', KEYS[1], '*', 'facts', ARGV[2])
writeDeadLetter(KEYS[3], ARGV[1], 5, tonumber(ARGV[4]))
if ARGV[3] ~= '' then leaveSchedule(KEYS[4], KEYS[5], ARGV[3], ARGV[1]) end
tellEnd(KEYS[5], ARGV[1], ARGV[2])
return 1
`

/** Which of these runs have no message in their queue. */
export async function runsWithoutMessage<R extends { id: string; queue: string }>(
  redis: Redis,
  prefix: string,
  runs: readonly R[],
): Promise<R[]> {
  if (runs.length === 0) return []
  const pipeline = redis.pipeline()
  for (const { id, queue } of runs) pipeline.exists(bullKey(prefix, queue, id))
  const replies = (await pipeline.exec()) ?? []
  return runs.filter((_, at) => replies[at]?.[0] === null && replies[at]?.[1] === 0)
}

/** When the oldest fact that is not recorded yet came into a queue's outbox (ms, by Redis' clock); Infinity when none is left. */
export async function oldestFactMs(redis: Redis, prefix: string, queue: string): Promise<number> {
  const [oldest] = await redis.xrange(outboxKey(prefix, queue), '-', '+', 'COUNT', 1)
  return oldest === undefined ? Infinity : Number(oldest[0].split('-')[0])
}

/** Writes the end of a lost run and its dead letter. False when its message is there after all. */
export async function endLostRun(redis: Redis, prefix: string, run: LostRun): Promise<boolean> {
  const { id, queue, fact, leaves, letter } = run
  const keys = [
    outboxKey(prefix, queue),
    bullKey(prefix, queue, id),
    deadKey(prefix, queue, ''),
    bullKey(prefix, queue, ''),
    companionPrefix(prefix, queue),
  ]
  const about = [id, factLine(fact), leaves, letter.length, ...letter]
  const ended = await redis.eval(SCRIPT, 5, ...keys, ...about)
  return ended === 1
}
