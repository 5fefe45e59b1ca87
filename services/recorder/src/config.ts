import { databaseEnv, RECORDER_NAME } from '@jadwal/db'
import { redisUrlEnv } from '@jadwal/queue'
import { commonEnv, dbPoolEnv, parseEnv, portEnv } from '@jadwal/runtime'
import { z } from 'zod'

const Env = z.object({
  ...commonEnv,
  ...databaseEnv,
  REDIS_URL: redisUrlEnv,
  JADWAL_PORT: portEnv(9103),
  /** Two batches in hand, one that is claimed, and the question whether Postgres is there; less is slower. */
  JADWAL_DB_POOL: dbPoolEnv(4, 2),
})

export function readConfig(env: NodeJS.ProcessEnv) {
  const parsed = parseEnv(Env, env)
  return {
    redisUrl: parsed.REDIS_URL,
    database: {
      url: parsed.DATABASE_URL,
      schema: parsed.JADWAL_DB_SCHEMA,
      max: parsed.JADWAL_DB_POOL,
      name: RECORDER_NAME,
    },
    prefix: parsed.JADWAL_PREFIX,
    host: parsed.JADWAL_HOST,
    port: parsed.JADWAL_PORT,
    metricsToken: parsed.JADWAL_METRICS_TOKEN,
    logLevel: parsed.JADWAL_LOG_LEVEL,
    graceMs: parsed.JADWAL_GRACE_MS,
    /** Entries that a reader has not acknowledged for this long are taken over by another one. */
    claimAfterMs: 30_000,
    claimEachMs: 10_000,
  }
}
export type RecorderConfig = ReturnType<typeof readConfig>
