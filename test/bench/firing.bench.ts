import { randomUUID } from 'node:crypto'
import {
  HOUR,
  MINUTE,
  type OverlapPolicy,
  type Schedule,
  type ScheduleId,
  ScheduleSpec,
  systemClock,
} from '@jadwal/domain'
import { keys, publishCatalogue, RedisClock } from '@jadwal/queue'
import { createLogger, createRegistry } from '@jadwal/runtime'
import { Redis } from 'ioredis'
import { Catalogue } from '../../services/scheduler/src/catalogue.ts'
import { Firing } from '../../services/scheduler/src/firing.ts'
import { FiringQueues } from '../../services/scheduler/src/firing-queues.ts'
import { ScheduleBook } from '../../services/scheduler/src/schedule-book.ts'
import { createSchedulerMetrics } from '../../services/scheduler/src/scheduler-metrics.ts'
import { grouped, median, table } from './table.ts'

/**
 * What one tick costs the leader and Redis in CPU time, when 10,000 schedules are due at once. The
 * firing alone, in this process and without Postgres: the time for a profiler to look at.
 */
const SCHEDULES = 10_000
const ROUNDS = 5
/** Before that, for the compiler. */
const WARM_UP = 2
const QUEUE = 'due'

const url = process.env['REDIS_URL'] ?? ''
const redis = new Redis(url)
let passedMs = 0
const clock = {
  now: () => new Date(systemClock.now().getTime() + passedMs),
  monotonicMs: () => systemClock.monotonicMs() + passedMs,
}

/** Schedules of one hour that all come at the same instant, one minute after the start. */
function schedulesOf(overlap: OverlapPolicy, nowMs: number): Schedule[] {
  const offset = `${(nowMs + MINUTE) % HOUR}ms`
  return Array.from({ length: SCHEDULES }, (_, at) => {
    const spec = ScheduleSpec.parse({
      job: 'due',
      every: '1h',
      offset,
      overlap,
      payload: { customer: `customer-${at}`, report: 'daily', format: 'pdf' },
      labels: { team: 'billing' },
    })
    const id = randomUUID() as ScheduleId
    return { id, name: `schedule-${at}`, versions: [{ version: 1, spec, fromMs: nowMs }] }
  })
}

function onError(error: Error): never {
  throw error
}

async function openFiring(overlap: OverlapPolicy, prefix: string): Promise<Firing> {
  const backoff = { type: 'exponential', delayMs: 1, maxDelayMs: 1, jitter: 0 } as const
  const job = { name: 'due', queue: QUEUE, attempts: 1, backoff, timeoutMs: 1, payloadSchema: {} }
  await publishCatalogue(redis, prefix, [job])
  const catalogue = new Catalogue()
  await catalogue.refresh(redis, prefix)
  const redisClock = new RedisClock(redis, clock)
  await redisClock.measure()
  const book = new ScheduleBook()
  book.put(schedulesOf(overlap, redisClock.nowMs()), redisClock.nowMs())
  const deps = {
    book,
    catalogue,
    queues: new FiringQueues(redis, { url, prefix, commandTimeoutMs: 10_000, onError }),
    redis,
    redisClock,
    clock,
    prefix,
    metrics: createSchedulerMetrics(createRegistry()),
    log: createLogger('bench', 'warn'),
    redisIsFull: () => false,
  }
  const reign = { term: 1, trusted: () => true }
  return new Firing(deps, reign, new AbortController().signal)
}

interface Cost {
  leaderMicros: number
  redisMicros: number
  wallMs: number
}

/** One instant at which all are due. */
async function fireAll(firing: Firing, prefix: string): Promise<Cost> {
  passedMs += HOUR
  const redisBefore = await redisCpuMicros()
  const before = process.cpuUsage()
  const startMs = performance.now()
  // A pass that has not fired everything wants another one at once.
  while ((await firing.pass()) <= 10);
  const wallMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(before)
  const redisMicros = (await redisCpuMicros()) - redisBefore
  const fired = await redis.llen(keys.bullKey(prefix, QUEUE, 'wait'))
  if (fired !== SCHEDULES) throw new Error(`${fired} of ${SCHEDULES} fired`)
  return { leaderMicros: (user + system) / SCHEDULES, redisMicros: redisMicros / SCHEDULES, wallMs }
}

/** Of its main thread, which is what others wait for. */
async function redisCpuMicros(): Promise<number> {
  const info = await redis.info('cpu')
  const seconds = (field: string): number =>
    Number(new RegExp(`^${field}:(\\S+)`, 'm').exec(info)?.[1])
  return (seconds('used_cpu_user_main_thread') + seconds('used_cpu_sys_main_thread')) * 1_000_000
}

/** As if workers had done everything: what was decided stays. */
async function workOff(prefix: string): Promise<void> {
  const stays = new Set([keys.lastTicksKey(prefix, QUEUE), keys.bullKey(prefix, QUEUE, 'meta')])
  const match = `${keys.bullPrefix(prefix, QUEUE)}:*`
  for await (const found of redis.scanStream({ match, count: 1_000 })) {
    const gone = (found as string[]).filter((key) => !stays.has(key))
    if (gone.length > 0) await redis.unlink(gone)
  }
}

async function measure(overlap: OverlapPolicy): Promise<Cost[]> {
  const prefix = `firing-${overlap}`
  const firing = await openFiring(overlap, prefix)
  while ((await firing.pass()) <= 10);
  const costs: Cost[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const cost = await fireAll(firing, prefix)
    if (round >= WARM_UP) costs.push(cost)
    await workOff(prefix)
  }
  return costs
}

const rows = [['', 'leader', 'Redis', 'wall']]
for (const overlap of ['allow', 'skip'] as const) {
  const costs = await measure(overlap)
  const middle = (of: keyof Cost): number => median(costs.map((cost) => cost[of]))
  rows.push([
    `${grouped(SCHEDULES)} ticks, overlap ${overlap}`,
    `${middle('leaderMicros').toFixed(1)} µs/tick`,
    `${middle('redisMicros').toFixed(1)} µs/tick`,
    `${grouped(middle('wallMs'))} ms`,
  ])
}
console.log(`\n${table(rows)}`)
process.exit()
