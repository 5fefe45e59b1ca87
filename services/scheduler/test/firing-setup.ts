import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import {
  type JobDescription,
  MINUTE,
  type Schedule,
  type ScheduleId,
  ScheduleSpec,
  type ScheduleSpecInput,
  systemClock,
} from '@jadwal/domain'
import { keys, type PayloadCipher, publishCatalogue, RedisClock, type Reign } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { Redis } from 'ioredis'
import { Registry } from 'prom-client'
import { inject, onTestFinished } from 'vitest'
import { Catalogue } from '../src/catalogue.ts'
import { Firing } from '../src/firing.ts'
import { FiringQueues } from '../src/firing-queues.ts'
import { ScheduleBook } from '../src/schedule-book.ts'
import { createSchedulerMetrics } from '../src/scheduler-metrics.ts'

interface FactLine {
  id: string
  state: string
  reason?: string
  schedule: string
  job: string
  queue: string
  tick_at: string
  tick_count?: number
}

/** In the shared Redis, unless `url` says another. */
export async function setup(url = inject('redisUrl')) {
  const prefix = `scheduler-${randomUUID()}`
  const redis = new Redis(url)
  const queues = new FiringQueues(redis, {
    url,
    prefix,
    commandTimeoutMs: 5_000,
    onError: () => {},
  })
  onTestFinished(async () => {
    await queues.close()
    redis.disconnect()
  })
  const redisClock = new RedisClock(redis, systemClock)
  await redisClock.measure()
  const book = new ScheduleBook()
  const catalogue = new Catalogue()
  const serve = async (
    job: string,
    queue: string,
    more: Partial<JobDescription> = {},
  ): Promise<void> => {
    const description = {
      name: job,
      queue,
      attempts: 3,
      backoff: { type: 'exponential' as const, delayMs: 1, maxDelayMs: 1, jitter: 0 },
      timeoutMs: 1_000,
      payloadSchema: {},
      ...more,
    }
    await publishCatalogue(redis, prefix, [description])
    await catalogue.refresh(redis, prefix)
  }
  await serve('report', 'reports')
  const full = { yes: false }
  const redisIsFull = (): boolean => full.yes
  const lead = (term: number, trusted = (): boolean => true, cipher?: PayloadCipher): Firing => {
    const log = createLogger('scheduler', 'silent', 'test')
    const metrics = createSchedulerMetrics(new Registry())
    const reign: Reign = { term, trusted }
    return new Firing(
      {
        book,
        catalogue,
        queues,
        redis,
        redisClock,
        clock: systemClock,
        prefix,
        metrics,
        log,
        redisIsFull,
        cipher,
      },
      reign,
      new AbortController().signal,
    )
  }
  const facts = async (queue = 'reports'): Promise<FactLine[]> => {
    const entries = await redis.xrange(keys.outboxKey(prefix, queue), '-', '+')
    return entries.flatMap(([, fields]) =>
      (fields[1] ?? '').split('\n').map((line) => JSON.parse(line) as FactLine),
    )
  }
  const events = async (): Promise<unknown[]> => {
    const entries = await redis.xrange(keys.eventsKey(prefix), '-', '+')
    return entries.map(([, [, type, , , , data = '']]) => ({ type, data: JSON.parse(data) }))
  }
  const now = redisClock.nowMs()
  return { book, lead, facts, events, serve, redis, prefix, now, full }
}

/** Ends with the last whole minute, so that no further tick comes while the test runs. */
export function schedule(
  now: number,
  versions: { from: number; until?: number; spec?: Partial<ScheduleSpecInput> }[],
): Schedule {
  const defaults = {
    job: 'report',
    every: '1m',
    misfire: { policy: 'all' as const },
    overlap: 'allow' as const,
    endsAt: new Date(minute(now)).toISOString(),
  }
  return {
    id: randomUUID() as ScheduleId,
    name: 'report',
    versions: versions.map(({ from, until, spec }, at) => ({
      version: at + 1,
      fromMs: from,
      ...(until === undefined ? {} : { untilMs: until }),
      spec: ScheduleSpec.parse({ ...defaults, ...spec }),
    })),
  }
}

export const minute = (at: number): number => Math.floor(at / MINUTE) * MINUTE

/** Passes until nothing more is due at once. */
export async function passAll(firing: Firing): Promise<void> {
  for (let rounds = 0; rounds < 50; rounds += 1) {
    const waitMs = await firing.pass()
    if (waitMs > 10) return
    // The next tick is a moment away: passes that find nothing to do take no time.
    await sleep(waitMs)
  }
  throw new Error('the firing does not come to rest')
}
