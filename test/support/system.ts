import { randomUUID } from 'node:crypto'
import { createProducer, keys, type Producer } from '@jadwal/queue'
import {
  createTestDatabase,
  eventually,
  type ServiceName,
  type ServiceProcess,
  spawnService,
} from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { inject, onTestFinished } from 'vitest'
import { bundleFaultJobs } from './bundle-jobs.ts'

/** A run whose worker was not heard of for this long is taken up by another. */
const LOCK_MS = 2_000

export const JOBS = {
  work: { name: 'fault.work', queue: 'faults' },
  quick: { name: 'fault.quick', queue: 'faults' },
  rest: { name: 'fault.rest', queue: 'faults' },
  fail: { name: 'fault.fail', queue: 'faults' },
  block: { name: 'fault.block', queue: 'faults' },
  shaky: { name: 'fault.shaky', queue: 'faults' },
  poison: { name: 'fault.poison', queue: 'faults' },
  sick: { name: 'fault.sick', queue: 'faults' },
  span: { name: 'fault.span', queue: 'faults' },
  partner: { name: 'fault.partner', queue: 'partners' },
} as const

export interface Row {
  id: string
  state: string
  reason: string | null
  attempt: number
}

export interface Execution {
  runId: string
  attempt: number
  atMs: number
}

export interface SystemOptions {
  /** Default: the servers of the test run. */
  redisUrl?: string
  databaseUrl?: string
  env?: Readonly<Record<string, string>>
  /** What the end of the test undoes goes here; for a system that several tests share. */
  atEnd?: (undo: () => PromiseLike<void>) => void
}

/** Services as real processes on servers of the test's own choice, with the fault jobs. */
export async function setupSystem(options: SystemOptions = {}) {
  const { atEnd = onTestFinished, redisUrl = inject('redisUrl') } = options
  const prefix = `system-${randomUUID()}`
  const database = await createTestDatabase(options.databaseUrl ?? inject('postgresUrl'))
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null })
  redis.on('error', () => {})
  const producer: Producer = createProducer({ url: redisUrl, prefix, onError: () => {} })
  atEnd(async () => {
    redis.disconnect()
    await producer.close()
    // The database's server may be the one that the test has stopped.
    await Promise.allSettled([database[Symbol.asyncDispose]()])
  })
  const env = {
    REDIS_URL: redisUrl,
    DATABASE_URL: database.url,
    JADWAL_PREFIX: prefix,
    JADWAL_JOBS: await bundleFaultJobs(),
    JADWAL_LOCK_MS: String(LOCK_MS),
    JADWAL_LEASE_MS: '1000',
    JADWAL_ADMIN_TOKEN: 'test-admin-token',
    ...options.env,
  }
  const start = (
    name: ServiceName,
    more: Readonly<Record<string, string>> = {},
  ): ServiceProcess => {
    const service = spawnService(name, { ...env, ...more })
    atEnd(() => service[Symbol.asyncDispose]())
    return service
  }
  const rows = async (): Promise<Row[]> =>
    await database.db.selectFrom('runs').select(['id', 'state', 'reason', 'attempt']).execute()
  const executions = async (): Promise<Execution[]> => {
    const lines = await redis.lrange(`${prefix}:executions`, 0, -1)
    return lines.map((line) => {
      const [runId = '', attempt, atMs] = line.split(' ')
      return { runId, attempt: Number(attempt), atMs: Number(atMs) }
    })
  }
  const deadLetters = async (): Promise<string[]> =>
    await redis.lrange(keys.deadKey(prefix, 'faults', 'wait'), 0, -1)
  /** Resolves when so many rows have ended. */
  const ended = (count: number, timeoutMs: number): Promise<void> =>
    eventually(
      async () => {
        const unfinished = new Set(['queued', 'running', 'retrying'])
        const done = (await rows()).filter(({ state }) => !unfinished.has(state)).length
        if (done < count) throw new Error(`${done} of ${count} runs have ended`)
      },
      { timeoutMs, everyMs: 250 },
    )
  return {
    redis,
    redisUrl,
    prefix,
    database,
    producer,
    start,
    rows,
    executions,
    deadLetters,
    ended,
    env,
  }
}
