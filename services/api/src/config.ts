import { databaseEnv } from '@jadwal/db'
import { encryptionKeysEnv, MAX_PAYLOAD_BYTES, PAYLOAD_LIMITS, redisUrlEnv } from '@jadwal/queue'
import { commonEnv, ConfigError, dbPoolEnv, integerEnv, parseEnv, portEnv } from '@jadwal/runtime'
import { z } from 'zod'
import { isLoopback } from './loopback.ts'
import { oidcEnv, providerConfig } from './oidc-config.ts'
import { publicUrlProblem } from './public-path.ts'
import { trustedProxiesEnv } from './trusted-proxies.ts'

const bootstrapTokenEnv = z
  .string()
  .regex(/^[\x21-\x7e]{16,}$/, 'must have at least 16 printable characters and no spaces')
  .optional()

const Env = z.object({
  ...commonEnv,
  ...databaseEnv,
  REDIS_URL: redisUrlEnv,
  JADWAL_PORT: portEnv(3_000),
  /** Changes of schedules that wait for each other hold two at most, and others go on reading. */
  JADWAL_DB_POOL: dbPoolEnv(10, 3),
  JADWAL_MAX_EVENT_STREAMS: integerEnv(1, 10_000).default(100),
  JADWAL_MAX_PAYLOAD_BYTES: integerEnv(PAYLOAD_LIMITS.min, PAYLOAD_LIMITS.max).default(
    MAX_PAYLOAD_BYTES,
  ),
  JADWAL_ENCRYPTION_KEYS: encryptionKeysEnv,
  JADWAL_ADMIN_TOKEN: bootstrapTokenEnv,
  JADWAL_VIEWER_TOKEN: bootstrapTokenEnv,
  JADWAL_AUTH: z
    .enum(['on', 'off'], 'must be "off" (open to everybody on this machine) or "on"')
    .default('on'),
  JADWAL_PUBLIC_URL: z
    .url({
      protocol: /^https?$/,
      error: 'must be the address that people open, such as https://jobs.example.com',
    })
    .superRefine((url, ctx) => {
      const problem = publicUrlProblem(url)
      if (problem) ctx.addIssue({ code: 'custom', message: problem })
    })
    .optional(),
  JADWAL_TRUSTED_PROXIES: trustedProxiesEnv,
  ...oidcEnv,
})

/** Throws `ConfigError`; also where nothing says who may come in. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const parsed = parseEnv(Env, env)
  return {
    redisUrl: parsed.REDIS_URL,
    database: {
      url: parsed.DATABASE_URL,
      schema: parsed.JADWAL_DB_SCHEMA,
      max: parsed.JADWAL_DB_POOL,
      name: 'jadwal-api',
    },
    prefix: parsed.JADWAL_PREFIX,
    host: parsed.JADWAL_HOST,
    port: parsed.JADWAL_PORT,
    maxPayloadBytes: parsed.JADWAL_MAX_PAYLOAD_BYTES,
    eventStreams: parsed.JADWAL_MAX_EVENT_STREAMS,
    encryptionKeys: parsed.JADWAL_ENCRYPTION_KEYS,
    adminToken: admission(parsed),
    viewerToken: viewerToken(parsed),
    metricsToken: parsed.JADWAL_METRICS_TOKEN,
    publicUrl: parsed.JADWAL_PUBLIC_URL,
    trustedProxies: parsed.JADWAL_TRUSTED_PROXIES,
    providerConfig: providerConfig(parsed, {
      publicUrl: parsed.JADWAL_PUBLIC_URL,
      isOpen: parsed.JADWAL_AUTH === 'off',
    }),
    logLevel: parsed.JADWAL_LOG_LEVEL,
    graceMs: parsed.JADWAL_GRACE_MS,
  }
}
export type ApiConfig = ReturnType<typeof readConfig>

/** The token that opens the api; undefined when it is open, which only this machine may see. */
function admission(env: z.infer<typeof Env>): string | undefined {
  if (env.JADWAL_AUTH === 'off') {
    if (isLoopback(env.JADWAL_HOST)) return undefined
    const problem = `allows JADWAL_AUTH=off only on a loopback address: set JADWAL_HOST=127.0.0.1, or set JADWAL_ADMIN_TOKEN instead`
    throw new ConfigError([{ variable: 'JADWAL_HOST', value: env.JADWAL_HOST, problem }])
  }
  if (env.JADWAL_ADMIN_TOKEN !== undefined) return env.JADWAL_ADMIN_TOKEN
  const problem =
    'must be set: it opens the api. Or set JADWAL_AUTH=off together with JADWAL_HOST=127.0.0.1'
  throw new ConfigError([{ variable: 'JADWAL_ADMIN_TOKEN', problem }])
}

/** The token for workers. Being the admin's as well it would let in as either, so that is refused. */
function viewerToken(env: z.infer<typeof Env>): string | undefined {
  const { JADWAL_VIEWER_TOKEN: token, JADWAL_ADMIN_TOKEN: adminToken } = env
  if (token === undefined || token !== adminToken) return token
  const problem = 'must differ from JADWAL_ADMIN_TOKEN: it is for workers, which only read'
  throw new ConfigError([{ variable: 'JADWAL_VIEWER_TOKEN', problem }])
}
