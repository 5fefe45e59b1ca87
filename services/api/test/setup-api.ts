import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { systemClock } from '@jadwal/domain'
import { openRedis, producerConnection } from '@jadwal/queue'
import { createLogger, type Lifecycle } from '@jadwal/runtime'
import { createTestDatabase } from '@jadwal/testkit'
import type { Redis } from 'ioredis'
import { inject } from 'vitest'
import { readConfig } from '../src/config.ts'
import { startApi } from '../src/start-api.ts'

export const TOKEN = 'test-admin-token'

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The parsed body; undefined when it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every form
  body: any
}

export interface TestApi extends AsyncDisposable {
  url: string
  prefix: string
  redis: Redis
  databaseUrl: string
  /** With the token, unless `headers` says otherwise. */
  ask: (path: string, init?: RequestInit) => Promise<Answer>
  post: (body: unknown) => Promise<Answer>
}

/** An api of the test's own on a free port, with a database of its own and a prefix in the shared Redis. */
export async function setupApi(
  env: Record<string, string> = {},
  wayToDatabase: (url: string) => string = (url) => url,
): Promise<TestApi> {
  const database = await createTestDatabase(inject('postgresUrl'))
  const prefix = `api-${randomBytes(4).toString('hex')}`
  const redisUrl = env['REDIS_URL'] ?? inject('redisUrl')
  const stop = new AbortController()
  let port = 0
  const lifecycle: Lifecycle = await startApi(
    readConfig({
      REDIS_URL: redisUrl,
      DATABASE_URL: wayToDatabase(database.url),
      JADWAL_PREFIX: prefix,
      JADWAL_HOST: '127.0.0.1',
      JADWAL_PORT: '0',
      JADWAL_ADMIN_TOKEN: TOKEN,
      ...env,
    }),
    {
      log: createLogger('api', 'silent'),
      stop: stop.signal,
      hurry: stop.signal,
      instance: 'api-under-test',
      clock: systemClock,
      onCrash: () => undefined,
      listening: (taken) => {
        port = taken
      },
    },
  )
  const redis = openRedis(producerConnection(redisUrl), () => undefined)
  if (redis.status !== 'ready') await once(redis, 'ready')
  const url = `http://127.0.0.1:${port}`
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = { authorization: `Bearer ${TOKEN}`, ...(init.headers as object) }
    const res = await fetch(url + path, { redirect: 'manual', ...init, headers })
    const text = await res.text()
    const isJson = text !== '' && (res.headers.get('content-type')?.includes('json') ?? false)
    return {
      status: res.status,
      headers: res.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    }
  }
  return {
    url,
    prefix,
    redis,
    databaseUrl: database.url,
    ask,
    post: async (body) =>
      ask('/api/v1/runs', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await lifecycle.close()
      redis.disconnect()
      await database[Symbol.asyncDispose]()
    },
  }
}
