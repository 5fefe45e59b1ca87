import { databaseEnv } from '@jadwal/db'
import { encryptionKeysEnv, redisUrlEnv } from '@jadwal/queue'
import { commonEnv, dbPoolEnv, integerEnv, parseEnv, portEnv } from '@jadwal/runtime'
import { z } from 'zod'

const Env = z.object({
  ...commonEnv,
  ...databaseEnv,
  REDIS_URL: redisUrlEnv,
  JADWAL_PORT: portEnv(9101),
  /** What it does side by side; one of them reads the schedules, and does nothing else. */
  JADWAL_DB_POOL: dbPoolEnv(4, 2),
  JADWAL_LEASE_MS: integerEnv(500, 60_000).default(5_000),
  JADWAL_RETENTION_DAYS: integerEnv(1, 3_650).default(30),
  JADWAL_AUDIT_DAYS: integerEnv(1, 36_500).default(365),
  JADWAL_STATS_DAYS: integerEnv(1, 3_650).default(90),
  JADWAL_SCHEDULES: z.string().optional(),
  JADWAL_ENCRYPTION_KEYS: encryptionKeysEnv,
})

export function readConfig(env: NodeJS.ProcessEnv) {
  const parsed = parseEnv(Env, env)
  return {
    redisUrl: parsed.REDIS_URL,
    database: {
      url: parsed.DATABASE_URL,
      schema: parsed.JADWAL_DB_SCHEMA,
      max: parsed.JADWAL_DB_POOL,
      name: 'jadwal-scheduler',
    },
    prefix: parsed.JADWAL_PREFIX,
    host: parsed.JADWAL_HOST,
    port: parsed.JADWAL_PORT,
    metricsToken: parsed.JADWAL_METRICS_TOKEN,
    logLevel: parsed.JADWAL_LOG_LEVEL,
    graceMs: parsed.JADWAL_GRACE_MS,
    leaseMs: parsed.JADWAL_LEASE_MS,
    retentionDays: parsed.JADWAL_RETENTION_DAYS,
    auditDays: parsed.JADWAL_AUDIT_DAYS,
    statsDays: parsed.JADWAL_STATS_DAYS,
    scheduleFile: parsed.JADWAL_SCHEDULES,
    encryptionKeys: parsed.JADWAL_ENCRYPTION_KEYS,
  }
}
export type SchedulerConfig = ReturnType<typeof readConfig>
