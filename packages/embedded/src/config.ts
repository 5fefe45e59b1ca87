import { isAbsolute, join, resolve } from 'node:path'
import { commonEnv, integerEnv, parseEnv } from '@jadwal/runtime'
import { z } from 'zod'

const Env = z.object({
  REDIS_URL: z.string().optional(),
  DATABASE_URL: z.string().optional(),
  SMTP_URL: z.string().optional(),
  JADWAL_DATA: z.string().default('.jadwal'),
  JADWAL_PORT: integerEnv(0, 65_535).default(3_000),
  JADWAL_HOST: commonEnv.JADWAL_HOST.default('127.0.0.1'),
  JADWAL_GRACE_MS: commonEnv.JADWAL_GRACE_MS,
  JADWAL_ADMIN_TOKEN: z.string().optional(),
  JADWAL_VIEWER_TOKEN: z.string().optional(),
  JADWAL_TOKEN: z.string().optional(),
  JADWAL_SCHEDULES: z.string().optional(),
  JADWAL_EXEC_ALLOW: z.string().optional(),
  PATH: z.string().default(''),
})

/** What the demo's schedules run through `shell.exec`. */
const DEMO_COMMANDS = '/bin/date,/usr/bin/date,/bin/df,/usr/bin/df'

/** What `npm start` reads itself; the rest of its environment is for the services. Throws `ConfigError`. */
export function readConfig(env: NodeJS.ProcessEnv, projectRoot: string) {
  const parsed = parseEnv(Env, env)
  return {
    projectRoot,
    /** Handed on to every service. */
    env,
    dataFolder: isAbsolute(parsed.JADWAL_DATA)
      ? parsed.JADWAL_DATA
      : resolve(projectRoot, parsed.JADWAL_DATA),
    redisUrl: parsed.REDIS_URL,
    databaseUrl: parsed.DATABASE_URL,
    smtpUrl: parsed.SMTP_URL,
    port: parsed.JADWAL_PORT,
    host: parsed.JADWAL_HOST,
    graceMs: parsed.JADWAL_GRACE_MS,
    adminToken: parsed.JADWAL_ADMIN_TOKEN,
    viewerToken: parsed.JADWAL_VIEWER_TOKEN,
    token: parsed.JADWAL_TOKEN,
    schedules: parsed.JADWAL_SCHEDULES ?? join(projectRoot, 'infra', 'demo', 'schedules.yaml'),
    execAllow: parsed.JADWAL_EXEC_ALLOW ?? DEMO_COMMANDS,
    path: parsed.PATH,
  }
}

export type SupervisorConfig = ReturnType<typeof readConfig>
