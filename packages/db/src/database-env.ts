import { z } from 'zod'

/** The variables that say which Postgres, and which schema of it. */
export const databaseEnv = {
  DATABASE_URL: z
    .string()
    .refine(
      (url) => /^postgres(ql)?:\/\//.test(url) && URL.canParse(url),
      'must be postgres://user:password@host:port/database',
    )
    .default('postgres://127.0.0.1:5432/jadwal'),
  JADWAL_DB_SCHEMA: z
    .string()
    .regex(
      /^[a-z_][a-z0-9_]{0,62}$/,
      'must match [a-z_][a-z0-9_]{0,62}: lower-case letters, digits and "_"',
    )
    .default('jadwal'),
} as const
