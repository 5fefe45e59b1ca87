import { setTimeout as delay } from 'node:timers/promises'
import { applySchedules } from '@jadwal/db'
import { keys } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkRuns, NOTHING_WRONG } from '../ledger/check-runs.ts'
import { apiClient } from '../support/api-client.ts'
import { expectHistory } from '../support/expect-order.ts'
import { type LightLoad, startLoad } from '../support/light-load.ts'
import { allReady, expectCalm, type Services } from '../support/live-through.ts'
import { readRuns } from '../support/read-runs.ts'
import { JOBS, setupSystem } from '../support/system.ts'
import { type Detour, startDetour } from '../support/tcp-detour.ts'

/**
 * One system of all services lives through what a Redis may do, one after the other and under a light
 * load. Each time: no log that floods, no process that spins, each run ended once, each tick fired once,
 * and all of it by themselves.
 */
const SCHEDULES = 3
const MOOD_MS = 4_000
/** A moment after it, in which everybody finds back. */
const AFTER_MS = 1_000
/** Redis' own settings for its own tests: it takes so many µs for each key that it loads. */
const SLOW_LOAD = { 'key-load-delay': '1000', 'loading-process-events-interval-bytes': '1024' }
const FILLERS = 1_500
const QUEUE = JOBS.rest.queue

const undo: (() => PromiseLike<void>)[] = []
const accepted: string[] = []
let redis: TestRedis
let spare: TestRedis
let detour: Detour
let system: Awaited<ReturnType<typeof setupSystem>>
let services: Services & Record<'api', Services[string]>
/** Talks to `redis` itself, whatever the address leads to. */
let server: Redis

beforeAll(async () => {
  redis = await startTestRedis(SLOW_LOAD)
  spare = await startTestRedis()
  detour = await startDetour(redis.port)
  for (const each of [redis, spare, detour]) undo.push(() => each[Symbol.asyncDispose]())
  server = connectTo(redis)
  // Beside something else, as in life: the outboxes are but a small part of it.
  for (let at = 0; at < 20; at += 1) await server.setrange(`other:${at}`, 1_000_000, 'x')
  system = await setupSystem({
    redisUrl: `redis://127.0.0.1:${detour.port}`,
    env: { JADWAL_LOG_LEVEL: 'info' },
    atEnd: (each) => undo.push(each),
  })
  const { start, database } = system
  const worker = start('worker')
  await worker.ready
  await applySchedules(database.db, {
    schedules: Array.from({ length: SCHEDULES }, (_, at) => ({
      name: `every-second-${at}`,
      input: { job: JOBS.rest.name, every: '1s', overlap: 'allow', payload: { ms: at } },
    })),
    prune: false,
    source: 'file',
    author: 'test',
  })
  const [scheduler, recorder, api] = [start('scheduler'), start('recorder'), start('api')]
  services = { worker, scheduler, recorder, api }
  await Promise.all(Object.values(services).map(({ ready }) => ready))
})

afterAll(async () => {
  for (const each of undo.toReversed()) await each()
})

function connectTo({ url }: TestRedis): Redis {
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  connection.on('error', () => {})
  undo.push(async () => connection.disconnect())
  return connection
}

/** What is seen from outside while `act` goes on under load, and that all is well after it. */
async function liveThrough(
  act: () => Promise<void>,
): Promise<{ notReady: ReadonlySet<string>; turnedAway: LightLoad['turnedAway'] }> {
  const ask = apiClient(services.api, system.env['JADWAL_ADMIN_TOKEN'] ?? '')
  const load = startLoad({ producer: system.producer, ask })
  await eventually(() => expect(load.accepted.succeeded.length).toBeGreaterThan(3))
  let notReady: ReadonlySet<string>
  try {
    notReady = await expectCalm(services, async () => {
      await act()
      await delay(AFTER_MS)
    })
  } finally {
    // Whatever was found, the next mood is not to suffer from it.
    await load.stop()
    accepted.push(...Object.values(load.accepted).flat())
  }
  await allReady(services)
  await expectEnds(load)
  await expectHistory(system.database.db, { withinMs: 60_000 })
  return { notReady, turnedAway: load.turnedAway }
}

async function expectEnds(load: LightLoad): Promise<void> {
  await eventually(
    async () => {
      const { rows, more } = await readRuns({ ...system, queue: QUEUE })
      expect(checkRuns(accepted, rows, more)).toMatchObject({ ...NOTHING_WRONG, waiting: 0 })
      const states = new Map(rows.map(({ id, state }) => [id, state]))
      for (const [state, ids] of Object.entries(load.accepted))
        expect(ids.filter((id) => states.get(id) !== state)).toEqual([])
    },
    { timeoutMs: 60_000, everyMs: 500 },
  )
}

async function again(everyMs: number, act: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + MOOD_MS
  while (performance.now() < until) {
    await act()
    await delay(everyMs)
  }
}

test('a Redis in its best mood is the measure of the others', async () => {
  const { turnedAway } = await liveThrough(() => delay(MOOD_MS))
  expect(turnedAway).toEqual({})
})

test('READONLY for a while: producers are told, and all resumes', async () => {
  const { notReady, turnedAway } = await liveThrough(async () => {
    await server.replicaof('127.0.0.1', '1')
    await delay(MOOD_MS)
    await server.replicaof('NO', 'ONE')
  })
  expect([...notReady]).toContain('worker')
  expect(Object.keys(turnedAway)).toEqual(['RedisUnavailableError'])
})

test('no memory left: producers are told, and workers work off what waits', async () => {
  const payloads = Array.from({ length: 1_500 }, () => ({ ms: 50 }))
  const backlog = await system.producer.enqueueMany(JOBS.rest, payloads)
  accepted.push(...backlog)
  const { turnedAway } = await liveThrough(async () => {
    await server.config('SET', 'maxmemory', '20mb')
    const waiting = await system.redis.llen(keys.bullKey(system.prefix, QUEUE, 'wait'))
    expect(waiting).toBeGreaterThan(100)
    await eventually(
      async () => {
        expect(await system.redis.llen(keys.bullKey(system.prefix, QUEUE, 'wait'))).toBe(0)
      },
      { timeoutMs: 30_000 },
    )
    // Longer than locks last: whoever has a run in hand keeps it.
    await delay(MOOD_MS)
    await server.config('SET', 'maxmemory', '0')
  })
  expect(Object.keys(turnedAway)).toEqual(['TryLaterError'])
  const { more } = await readRuns({ ...system, queue: QUEUE })
  const [first = ''] = backlog
  const lost = more.attempts.filter(({ run_id, state }) => run_id >= first && state === 'lost')
  expect(lost).toEqual([])
})

test('LOADING for seconds after a start: all say so, wait, and resume', async () => {
  const pipeline = server.pipeline()
  for (let at = 0; at < FILLERS; at += 1) pipeline.set(`filler:${at}`, 'x'.repeat(100))
  await pipeline.exec()
  await server.bgrewriteaof()
  await eventually(async () => {
    expect(await server.info('persistence')).toMatch(/aof_rewrite_in_progress:0\r?\n/)
  })
  const { notReady } = await liveThrough(async () => {
    await redis.stop()
    const startMs = performance.now()
    await redis.start()
    expect(performance.now() - startMs).toBeGreaterThan(FILLERS)
  })
  expect([...notReady].toSorted()).toEqual(['api', 'recorder', 'scheduler', 'worker'])
  await server.del(Array.from({ length: FILLERS }, (_, at) => `filler:${at}`))
})

test('connections killed again and again: everybody comes back each time', async () => {
  let killed = 0
  await liveThrough(() =>
    again(500, async () => {
      for (const type of ['normal', 'pubsub'])
        killed += Number(await server.call('CLIENT', 'KILL', 'TYPE', type))
    }),
  )
  expect(killed).toBeGreaterThan(100)
})

test('scripts flushed again and again: nobody notices', async () => {
  const { turnedAway } = await liveThrough(() => again(20, () => server.script('FLUSH')))
  expect(turnedAway).toEqual({})
})

test('clients paused: producers are told, and all resumes', async () => {
  const { turnedAway } = await liveThrough(async () => {
    await server.call('CLIENT', 'PAUSE', String(MOOD_MS), 'ALL')
    await delay(MOOD_MS)
  })
  expect(Object.keys(turnedAway)).toEqual(['RedisUnavailableError'])
})

test('a failover: who is still connected to the old primary follows the address to the new one', async () => {
  const heir = connectTo(spare)
  await heir.replicaof('127.0.0.1', String(redis.port))
  await eventually(
    async () => expect(await heir.info('replication')).toContain('master_link_status:up'),
    { timeoutMs: 20_000 },
  )
  const { turnedAway } = await liveThrough(async () => {
    await server.call('FAILOVER', 'TO', '127.0.0.1', String(spare.port))
    await eventually(async () => expect(await heir.info('replication')).toContain('role:master'))
    await delay(MOOD_MS / 2)
    detour.target = spare.port
    await delay(MOOD_MS / 2)
    // Whoever only reads need not have noticed.
    await redis.stop()
  })
  expect(Object.keys(turnedAway)).toEqual(['RedisUnavailableError'])
})
