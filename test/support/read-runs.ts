import { keys } from '@jadwal/queue'
import type { TestDatabase } from '@jadwal/testkit'
import type { Redis } from 'ioredis'
import type { LedgerMore, LedgerRun } from '../ledger/check-runs.ts'

export interface RunsOf {
  redis: Redis
  prefix: string
  database: TestDatabase
  queue: string
}

/** What `checkRuns` asks for: the rows of a queue's runs that belong to no schedule, and all that goes with them. */
export async function readRuns({
  redis,
  prefix,
  database: { db },
  queue,
}: RunsOf): Promise<{ rows: LedgerRun[]; more: Required<Omit<LedgerMore, 'settled'>> }> {
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'state', 'reason', 'attempt'])
    .where('queue', '=', queue)
    .where('schedule_id', 'is', null)
    .execute()
  const ids = new Set(rows.map(({ id }) => id))
  const attempts = await db
    .selectFrom('attempts')
    .select(['run_id', 'attempt as number', 'state'])
    .execute()
  const ofSchedules = new Set(
    (await db.selectFrom('runs').select('id').where('schedule_id', 'is not', null).execute()).map(
      ({ id }) => id,
    ),
  )
  const key = (part: string): string => keys.bullKey(prefix, queue, part)
  const waiting = [
    ...(await redis.lrange(key('wait'), 0, -1)),
    ...(await redis.lrange(key('active'), 0, -1)),
    ...(await redis.zrange(key('prioritized'), 0, -1)),
    ...(await redis.zrange(key('delayed'), 0, -1)),
  ]
  const letters = await redis.lrange(keys.deadKey(prefix, queue, 'wait'), 0, -1)
  const own = (id: string): boolean => !ofSchedules.has(id)
  return {
    rows,
    more: {
      attempts: attempts.filter(({ run_id }) => ids.has(run_id)),
      waiting: waiting.filter(own),
      letters: letters.filter(own),
    },
  }
}
