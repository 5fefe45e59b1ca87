import { expect, test } from 'vitest'
import { z } from 'zod'
import { databaseEnv } from './database-env.ts'

const Env = z.object(databaseEnv)

test('unset, they are the Postgres of this machine and the schema jadwal', () => {
  expect(Env.parse({})).toEqual({
    DATABASE_URL: 'postgres://127.0.0.1:5432/jadwal',
    JADWAL_DB_SCHEMA: 'jadwal',
  })
})

test.each([
  [{ DATABASE_URL: 'mysql://db/x' }, 'must be postgres://user:password@host:port/database'],
  [{ DATABASE_URL: 'postgres//db' }, 'must be postgres://user:password@host:port/database'],
  [
    { JADWAL_DB_SCHEMA: 'Jobs' },
    'must match [a-z_][a-z0-9_]{0,62}: lower-case letters, digits and "_"',
  ],
])('%j is refused with what would be right', (env, problem) => {
  expect(Env.safeParse(env).error?.issues.map(({ message }) => message)).toEqual([problem])
})
