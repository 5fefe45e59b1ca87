import { randomUUID } from 'node:crypto'
import { recordFacts } from '@jadwal/db'
import { MINUTE, revision, type RunFact, ScheduleId, systemClock, tickRunId } from '@jadwal/domain'
import { keys, RedisClock, registerQueues } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { eventually } from '@jadwal/testkit'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { markLate } from '../src/mark-late-ticks.ts'
import { createSchedulerMetrics } from '../src/scheduler-metrics.ts'
import { setupSchedulers } from './setup-scheduler.ts'

const SCHEDULE = ScheduleId.parse(randomUUID())

async function setup() {
  const schedulers = await setupSchedulers()
  const { db, redis, prefix } = schedulers
  await eventually(() => expect(redis.status).toBe('ready'))
  await registerQueues(redis, prefix, ['mails'])
  const redisClock = new RedisClock(redis, systemClock)
  await redisClock.measure()
  const metrics = createSchedulerMetrics(new Registry())
  const log = createLogger('scheduler', 'silent', 'test')
  /** A tick of ten minutes ago that was to succeed by then. */
  const watched = async (lateInMs: number, about: Partial<RunFact> = {}): Promise<string> => {
    const tickAtMs = Math.floor(redisClock.nowMs()) - 10 * MINUTE
    const id = tickRunId(SCHEDULE, tickAtMs)
    const fact: RunFact = {
      kind: 'run',
      id,
      revision: revision(0, 'queued'),
      state: 'queued',
      job: 'mail',
      queue: 'mails',
      schedule_id: SCHEDULE,
      schedule: 'nightly',
      tick_at: new Date(tickAtMs).toISOString(),
      term: 7,
      late_due_at: new Date(redisClock.nowMs() + lateInMs).toISOString(),
      payload: {},
      labels: { team: 'billing' },
      enqueued_at: new Date(tickAtMs).toISOString(),
      attempt: 0,
      ...about,
    }
    await recordFacts(db, [JSON.stringify(fact)])
    return id
  }
  const events = async (): Promise<Record<string, unknown>[]> =>
    (await redis.xrange(keys.eventsKey(prefix), '-', '+')).map(([, fields]) => {
      const [, type, , at, , data = ''] = fields
      return { type, at, data: JSON.parse(data) }
    })
  const lateAt = async (id: string) =>
    (await db.selectFrom('runs').select('late_at').where('id', '=', id).executeTakeFirst())?.late_at
  return {
    ...schedulers,
    watched,
    events,
    lateAt,
    metrics,
    outbox: keys.outboxKey(prefix, 'mails'),
    round: () => markLate({ db, redis, redisClock, prefix, metrics, log }),
  }
}

test('a late tick is marked, counted, and told as an event', async () => {
  const { watched, round, events, lateAt, metrics } = await setup()
  const id = await watched(-5_000)
  await round()
  expect(await events()).toEqual([
    {
      type: 'tick.late',
      at: expect.any(String),
      data: {
        runId: id,
        schedule: 'nightly',
        scheduleId: SCHEDULE,
        tickAt: expect.any(String),
        lateDueAt: expect.any(String),
        job: 'mail',
        queue: 'mails',
        state: 'queued',
        labels: { team: 'billing' },
      },
    },
  ])
  expect((await lateAt(id))?.toISOString()).toBe((await events())[0]?.['at'])
  expect((await metrics.ticksLate.get()).values[0]?.value).toBe(1)
  await round()
  expect(await events()).toHaveLength(1)
})

test('a tick is not late before its time', async () => {
  const { watched, round, events } = await setup()
  await watched(60_000)
  await round()
  expect(await events()).toEqual([])
})

test('while an older fact waits for the recorder nothing is found late, as it may be the success', async () => {
  const { watched, round, events, redis, outbox } = await setup()
  await redis.xadd(outbox, `${Date.now() - 30_000}-0`, 'facts', '{}')
  await watched(-5_000)
  await round()
  expect(await events()).toEqual([])
  await redis.del(outbox)
  await round()
  expect(await events()).toHaveLength(1)
})

test('the leader does so, also for a tick that was late before there was a leader', async () => {
  const { watched, start, lateAt } = await setup()
  const id = await watched(-5_000)
  const { metrics } = await start('a')
  await eventually(async () => expect(await lateAt(id)).toBeInstanceOf(Date))
  await eventually(async () => expect(await metrics()).toContain('jadwal_ticks_late_total 1'))
})
