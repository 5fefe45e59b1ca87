import { randomUUID } from 'node:crypto'
import { applySchedules } from '@jadwal/db'
import { publishCatalogue } from '@jadwal/queue'
import { createTestDatabase, eventually, type ServiceProcess, spawnService } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { inject, onTestFinished } from 'vitest'
import { consumeTicks } from './tick-consumer.ts'

export const LEASE_MS = 1_000

/** What the schedules may be of; nobody but the test serves them. */
export const JOBS = {
  noted: { name: 'noted', queue: 'noted' },
  other: { name: 'other', queue: 'other' },
} as const

export interface SchedulersOptions {
  schedules: number
  /** Default: the Redis of the test run. */
  redisUrl?: string
}

/** Schedulers as real processes, with schedules that are due each second and somebody who notes what they fire. */
export async function setupSchedulers(options: SchedulersOptions) {
  const redisUrl = options.redisUrl ?? inject('redisUrl')
  const prefix = `faults-${randomUUID()}`
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null })
  redis.on('error', () => {})
  onTestFinished(() => redis.disconnect())
  await publishJobs(redis, prefix, Object.values(JOBS))
  const names = Array.from({ length: options.schedules }, (_, at) => `every-second-${at}`)
  await applySchedules(database.db, {
    schedules: names.map((name) => ({
      name,
      input: { job: JOBS.noted.name, every: '1s', overlap: 'allow' },
    })),
    prune: false,
    source: 'file',
    author: 'test',
  })
  const env = {
    REDIS_URL: redisUrl,
    DATABASE_URL: database.url,
    JADWAL_PREFIX: prefix,
    JADWAL_LEASE_MS: String(LEASE_MS),
  }
  const running = new Set<ServiceProcess>()
  const start = (more: Readonly<Record<string, string>> = {}): ServiceProcess => {
    const scheduler = spawnService('scheduler', { ...env, ...more })
    onTestFinished(() => scheduler[Symbol.asyncDispose]())
    running.add(scheduler)
    void scheduler.exitCode().then(() => running.delete(scheduler))
    return scheduler
  }
  const startRecorder = (): ServiceProcess => {
    const recorder = spawnService('recorder', env)
    onTestFinished(() => recorder[Symbol.asyncDispose]())
    return recorder
  }
  const leaderKey = `{${prefix}:scheduler}:leader`
  /** The scheduler that leads, by what Redis says; other than `not` when given. */
  const leader = (not?: ServiceProcess, timeoutMs = 30_000): Promise<ServiceProcess> =>
    eventually(
      async () => {
        const { instance = '', ended } = await redis.hgetall(leaderKey)
        const found = [...running].find(({ pid }) => instance.includes(`-${pid}-`))
        if (!found || found === not || ended !== undefined)
          throw new Error(`${instance || 'nobody'} leads`)
        return found
      },
      { timeoutMs, everyMs: 5 },
    )
  const consumer = consumeTicks(redisUrl, prefix, JOBS.noted.queue)
  onTestFinished(() => consumer[Symbol.asyncDispose]())
  return { redis, redisUrl, prefix, database, start, startRecorder, leader, consumer }
}

/** Publishes jobs as the workers that serve them would. */
export async function publishJobs(
  redis: Redis,
  prefix: string,
  jobs: readonly { name: string; queue: string }[],
): Promise<void> {
  const rest = {
    attempts: 1,
    backoff: { type: 'exponential', delayMs: 1, maxDelayMs: 1, jitter: 0 },
    timeoutMs: 1_000,
    payloadSchema: {},
  } as const
  await publishCatalogue(
    redis,
    prefix,
    jobs.map(({ name, queue }) => ({ name, queue, ...rest })),
  )
}

/** Resolves just after the next whole second and `afterMs`. */
export async function nextSecond(afterMs = 0): Promise<void> {
  const nowMs = Date.now()
  const waitMs = 1_000 - (nowMs % 1_000) + afterMs
  await new Promise((resolve) => setTimeout(resolve, waitMs))
}
