import { jobsEnv } from '@jadwal/jobs'
import { encryptionKeysEnv, MAX_PAYLOAD_BYTES, PAYLOAD_LIMITS, redisUrlEnv } from '@jadwal/queue'
import { commonEnv, integerEnv, parseEnv, portEnv } from '@jadwal/runtime'
import { maskOf } from '@jadwal/sdk/attempts'
import { z } from 'zod'
import { AttemptMasks } from './attempt-masks.ts'
import { childEnv } from './isolation/child-env.ts'
import { readQueueList } from './queue-list.ts'

const SECRET = /^JADWAL_SECRET_(.+)$/

const Env = z.object({
  ...commonEnv,
  ...jobsEnv,
  REDIS_URL: redisUrlEnv,
  JADWAL_PORT: portEnv(9102),
  JADWAL_JOBS: z.string().optional(),
  JADWAL_QUEUES: z
    .string()
    .optional()
    .transform((text, ctx) => {
      const list = text === undefined ? undefined : readQueueList(text)
      if (typeof list !== 'string') return list
      ctx.addIssue({ code: 'custom', message: list })
      return z.NEVER
    }),
  JADWAL_LOCK_MS: integerEnv(1_000, 3_600_000).default(30_000),
  JADWAL_MAX_PAYLOAD_BYTES: integerEnv(PAYLOAD_LIMITS.min, PAYLOAD_LIMITS.max).default(
    MAX_PAYLOAD_BYTES,
  ),
  JADWAL_ENCRYPTION_KEYS: encryptionKeysEnv,
})

export function readConfig(env: NodeJS.ProcessEnv) {
  const parsed = parseEnv(Env, env)
  const secrets = secretsOf(env)
  const masks = new AttemptMasks(maskOf(secrets.values()))
  return {
    redisUrl: parsed.REDIS_URL,
    prefix: parsed.JADWAL_PREFIX,
    host: parsed.JADWAL_HOST,
    port: parsed.JADWAL_PORT,
    metricsToken: parsed.JADWAL_METRICS_TOKEN,
    logLevel: parsed.JADWAL_LOG_LEVEL,
    graceMs: parsed.JADWAL_GRACE_MS,
    /** A run whose worker was not heard of for this long is taken up by another. */
    lockMs: parsed.JADWAL_LOCK_MS,
    /** Of the runs that handlers enqueue. */
    maxPayloadBytes: parsed.JADWAL_MAX_PAYLOAD_BYTES,
    jobsModule: parsed.JADWAL_JOBS,
    /** Undefined: all queues of the catalogue. */
    queues: parsed.JADWAL_QUEUES,
    /** Where mails of alerts go. */
    ...(parsed.SMTP_URL === undefined ? {} : { smtpUrl: parsed.SMTP_URL }),
    secrets,
    encryptionKeys: parsed.JADWAL_ENCRYPTION_KEYS,
    /** An error that nobody caught may tell any secret. */
    masks,
    mask: masks.hide,
    childEnv: childEnv(env),
  }
}
export type WorkerConfig = ReturnType<typeof readConfig>

/** What `{ "secret": "NAME" }` in a payload stands for, by name. */
function secretsOf(env: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>()
  for (const [variable, value] of Object.entries(env)) {
    const name = SECRET.exec(variable)?.[1]
    if (name !== undefined && value !== undefined) secrets.set(name, value)
  }
  return secrets
}
