import { randomBytes } from 'node:crypto'
import { systemClock } from '@jadwal/domain'
import { keys, openRedis, producerConnection, readLeader } from '@jadwal/queue'
import { createLogger, type Lifecycle } from '@jadwal/runtime'
import { createTestDatabase } from '@jadwal/testkit'
import { inject, onTestFinished } from 'vitest'
import { readConfig } from '../src/config.ts'
import { startScheduler } from '../src/start-scheduler.ts'

/** Schedulers inside this process, with a database and a prefix of the test's own. */
export async function setupSchedulers(env: Record<string, string> = {}) {
  const database = await createTestDatabase(inject('postgresUrl'))
  const redisUrl = inject('redisUrl')
  const prefix = `scheduler-${randomBytes(4).toString('hex')}`
  const redis = openRedis(producerConnection(redisUrl), () => undefined)
  const closes: (() => Promise<void>)[] = []
  onTestFinished(async () => {
    await Promise.all(closes.map((close) => close()))
    redis.disconnect()
    await database[Symbol.asyncDispose]()
  })
  const start = async (instance: string) => {
    const config = readConfig({
      REDIS_URL: redisUrl,
      DATABASE_URL: database.url,
      JADWAL_PREFIX: prefix,
      JADWAL_HOST: '127.0.0.1',
      JADWAL_PORT: '0',
      JADWAL_LEASE_MS: '1000',
      ...env,
    })
    const stop = new AbortController()
    const ports: number[] = []
    const lifecycle: Lifecycle = await startScheduler(config, {
      log: createLogger('scheduler', 'silent', instance),
      stop: stop.signal,
      hurry: stop.signal,
      instance,
      clock: systemClock,
      onCrash: () => undefined,
      listening: (port) => void ports.push(port),
    })
    const close = async (): Promise<void> => {
      stop.abort()
      await lifecycle.close()
    }
    closes.push(close)
    const metrics = async (): Promise<string> =>
      await (await fetch(`http://127.0.0.1:${ports[0]}/metrics`)).text()
    return { close, metrics }
  }
  return {
    db: database.db,
    redis,
    prefix,
    start,
    leader: () => readLeader(redis, prefix),
    /** What the terms' outbox tells, oldest first. */
    terms: async (): Promise<Record<string, unknown>[]> => {
      const entries = await redis.xrange(keys.outboxKey(prefix, keys.SCHEDULER), '-', '+')
      return entries
        .flatMap(([, fields]) => (fields[1] ?? '').split('\n'))
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    },
  }
}
