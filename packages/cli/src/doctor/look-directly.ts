import { openDatabase, readPostgresHealth } from '@jadwal/db'
import { type Clock, type Finding, judgePostgres, judgeRedis, judgeWork } from '@jadwal/domain'
import {
  openRedis,
  producerConnection,
  readRedisHealth,
  readWorkHealth,
  redisReady,
} from '@jadwal/queue'
import { publicUrl } from '../bullmq-redis.ts'
import { messageOf } from '../input-file.ts'

const WITHIN_MS = 5_000

/** Looks at a Redis and what the services leave in it, without the api. */
export async function lookAtRedis(
  url: string,
  { clock, prefix, version }: { clock: Clock; prefix: string; version: string },
): Promise<Finding[]> {
  try {
    const redis = openRedis(producerConnection(url), () => undefined)
    try {
      await redisReady(redis, WITHIN_MS)
      return [
        ...judgeRedis(await readRedisHealth(redis, clock)),
        ...judgeWork(await readWorkHealth(redis, prefix), version),
      ]
    } finally {
      redis.disconnect()
    }
  } catch (error) {
    return [away('redis', 'REDIS_URL', { url, error })]
  }
}

/** Looks at a Postgres and Jadwal's tables in it, without the api. */
export async function lookAtPostgres(
  url: string,
  { clock, schema }: { clock: Clock; schema: string },
): Promise<Finding[]> {
  const db = openDatabase({ url, schema, max: 1, queryTimeoutMs: WITHIN_MS })
  try {
    return judgePostgres(await readPostgresHealth(db, clock))
  } catch (error) {
    return [away('postgres', 'DATABASE_URL', { url, error })]
  } finally {
    await db.destroy()
  }
}

function away(
  check: string,
  variable: string,
  { url, error }: { url: string; error: unknown },
): Finding {
  const where = URL.canParse(url) ? publicUrl(url) : 'what it is given'
  return {
    check,
    status: 'broken',
    found: `${where} does not answer: ${messageOf(error) || 'no connection'}`,
    cure: `See that it runs, and that ${variable} is right and can be reached from here.`,
  }
}
