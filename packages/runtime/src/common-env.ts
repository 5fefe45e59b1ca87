import { z } from 'zod'
import { integerEnv } from './env.ts'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const DAY_MS = 24 * 60 * 60 * 1_000

/** The variables that several services read, each with its default. A service picks those it needs. */
export const commonEnv = {
  JADWAL_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must match [A-Za-z0-9_.-]{1,64}')
    .default('jadwal'),
  JADWAL_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  JADWAL_HOST: z
    .string()
    .regex(/^[A-Za-z0-9:._-]+$/, 'must be a host name or an address')
    .default('0.0.0.0'),
  JADWAL_GRACE_MS: integerEnv(0, DAY_MS).default(30_000),
  JADWAL_METRICS_TOKEN: z.string().min(8, 'must have at least 8 characters').optional(),
} as const

/** The variable `JADWAL_DB_POOL`: most connections to Postgres, with the service's own default and least. */
export function dbPoolEnv(
  defaultMost: number,
  least: number,
): z.ZodDefault<z.ZodType<number, string>> {
  return integerEnv(least, 500).default(defaultMost)
}

/** The variable `JADWAL_PORT`, with the default of the service itself; 0 takes a free port. */
export function portEnv(defaultPort: number): z.ZodDefault<z.ZodType<number, string>> {
  return integerEnv(0, 65_535).default(defaultPort)
}
