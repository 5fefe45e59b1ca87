import { randomUUID } from 'node:crypto'
import {
  applySchedules,
  type BackfillRow,
  findBackfill,
  insertBackfill,
  recordFacts,
} from '@jadwal/db'
import {
  MINUTE,
  type RunFact,
  ScheduleId,
  type ScheduleSpecInput,
  systemClock,
  tickRunId,
} from '@jadwal/domain'
import { keys, publishCatalogue, RedisClock } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { createTestDatabase } from '@jadwal/testkit'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { sql } from 'kysely'
import { expect, inject, onTestFinished } from 'vitest'
import { Backfills } from '../src/backfills.ts'
import { Catalogue } from '../src/catalogue.ts'
import { FiringQueues } from '../src/firing-queues.ts'
import { ScheduleBook } from '../src/schedule-book.ts'

const FROM = Date.parse('2026-09-01T10:00:00Z')
export const at = (minutes: number): Date => new Date(FROM + minutes * MINUTE)

export async function setupBackfills() {
  const prefix = `backfill-${randomUUID()}`
  const url = inject('redisUrl')
  const redis = new Redis(url)
  const options = { url, prefix, commandTimeoutMs: 5_000, onError: () => {} }
  const queues = new FiringQueues(redis, options)
  const database = await createTestDatabase(inject('postgresUrl'))
  const bull = new Queue('reports', {
    connection: redis,
    prefix: keys.bullPrefix(prefix, 'reports'),
    skipMetasUpdate: true,
  })
  onTestFinished(async () => {
    await bull.close()
    await queues.close()
    redis.disconnect()
    await database[Symbol.asyncDispose]()
  })
  const { db } = database
  const redisClock = new RedisClock(redis, systemClock)
  await redisClock.measure()
  const backoff = { type: 'exponential' as const, delayMs: 1, maxDelayMs: 1, jitter: 0 }
  await publishCatalogue(redis, prefix, [
    { name: 'report', queue: 'reports', attempts: 3, backoff, timeoutMs: 1_000, payloadSchema: {} },
  ])
  const catalogue = new Catalogue()
  await catalogue.refresh(redis, prefix)
  const book = new ScheduleBook()
  const input = { job: 'report', every: '1m' }
  await applySchedules(db, {
    schedules: [{ name: 'hourly', input }],
    prune: false,
    source: 'api',
    author: 'test',
  })
  const row = await db.selectFrom('schedules').select('id').executeTakeFirstOrThrow()
  const scheduleId = ScheduleId.parse(row.id)
  const log = createLogger('scheduler', 'silent', 'test')
  const lead = (term: number): Backfills =>
    new Backfills(
      {
        db,
        redis,
        redisClock,
        prefix,
        catalogue,
        book,
        queues,
        log,
        redisIsFull: () => false,
      },
      { term, trusted: () => true },
    )
  const backfill = async (
    fields: Partial<BackfillRow> = {},
    rule: Partial<ScheduleSpecInput> = {},
  ): Promise<string> => {
    const id = randomUUID()
    await insertBackfill(db, {
      id,
      schedule_id: scheduleId,
      from_at: at(0),
      until_at: at(10),
      state: 'running',
      all_ticks: false,
      rate: null,
      concurrency: 4,
      queue: 'reports',
      ticks: 10,
      author: 'test',
      created_at: new Date(redisClock.nowMs()),
      ...fields,
      spec: JSON.stringify({ ...input, ...rule }),
      calendars: JSON.stringify(fields.calendars ?? {}),
    })
    return id
  }
  /** Takes the runs that wait out of the queue, as if workers had done them. */
  const finish = async (backfillId: string): Promise<number[]> => {
    const ticks: number[] = []
    for (const message of await bull.getJobs(['prioritized', 'waiting'])) {
      const { schedule } = message.data as { schedule: { tickAt: string; backfillId: string } }
      expect(schedule.backfillId).toBe(backfillId)
      ticks.push((Date.parse(schedule.tickAt) - FROM) / MINUTE)
      await redis.srem(keys.unfinishedKey(prefix, 'reports', backfillId), String(message.id))
      await message.remove()
    }
    return ticks.toSorted((a, b) => a - b)
  }
  const succeeded = async (minutes: number): Promise<void> => {
    const tick = at(minutes).toISOString()
    const fact: RunFact = {
      kind: 'run',
      id: tickRunId(scheduleId, at(minutes).getTime()),
      revision: 13,
      state: 'succeeded',
      job: 'report',
      queue: 'reports',
      schedule_id: scheduleId,
      schedule: 'hourly',
      tick_at: tick,
      payload: {},
      enqueued_at: tick,
      attempt: 1,
      finished_at: tick,
    }
    await recordFacts(db, [JSON.stringify(fact)])
  }
  const state = async (id: string) => {
    const found = await findBackfill(db, id)
    return {
      state: found?.state,
      enqueued: found?.enqueued,
      skipped: found?.skipped,
      problem: found?.problem,
    }
  }
  /** Changes with every update of its row. */
  const version = async (id: string) => {
    const rows = await sql<{ xmin: string }>`
      SELECT xmin::text FROM ${sql.table('backfills')} WHERE id = ${id}`.execute(db)
    return rows.rows[0]?.xmin
  }
  /** The day. */
  const position = async (id: string) =>
    (await findBackfill(db, id))?.position_at?.toISOString().slice(0, 10)
  const lastTicks = () => redis.hgetall(keys.lastTicksKey(prefix, 'reports'))
  return {
    lead,
    backfill,
    finish,
    succeeded,
    state,
    db,
    redis,
    prefix,
    book,
    catalogue,
    lastTicks,
    version,
    position,
    scheduleId,
    bull,
    redisClock,
  }
}
