import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '@jadwal/domain'
import { z } from 'zod'
import { databaseEnv } from './database-env.ts'
import { migrate } from './migrate.ts'

const EXIT = { done: 0, unavailable: 69, software: 70, config: 78 } as const
const PAUSE_MS = 500
const LOCK_NOT_AVAILABLE = '55P03'

export interface MigrateCommandOptions {
  /** How long to wait for a Postgres that does not answer. */
  patienceMs: number
  /** Takes the one line about what was done, or what is wrong. */
  say: (line: string, stream: 'stdout' | 'stderr') => void
}

const Env = z.object(databaseEnv)

/**
 * Migrates the schema that the environment names. Returns the exit code: 0 done, 69 Postgres did not
 * answer for `patienceMs`, 70 a migration failed, 78 wrong environment, also a database or user that
 * does not exist.
 */
export async function migrateCommand(
  env: NodeJS.ProcessEnv,
  options: MigrateCommandOptions,
): Promise<number> {
  const complain = complaints(options)
  // An empty variable counts as unset, as in all services.
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const config = Env.safeParse(set)
  if (!config.success) {
    const problems = config.error.issues.map((each) => `${each.path.join('.')} ${each.message}`)
    return complain(`wrong environment: ${problems.join('; ')}`, EXIT.config)
  }
  const { DATABASE_URL: url, JADWAL_DB_SCHEMA: schema } = config.data
  return migratePatiently({ url, schema }, options)
}

/** Servers of one deployment start side by side, so one that does not answer yet gets some time. */
async function migratePatiently(
  { url, schema }: { url: string; schema: string },
  { patienceMs, say }: MigrateCommandOptions,
): Promise<number> {
  const complain = complaints({ say })
  const until = systemClock.monotonicMs() + patienceMs
  const where = new URL(url)
  const address = `${where.host}${where.pathname}`
  for (;;) {
    try {
      const done = await migrate({ url, schema, now: systemClock.now() })
      const last = done.at(-1)
      const what = last
        ? `is up to date, after ${done.length} migration${done.length === 1 ? '' : 's'}, the last ${last}`
        : 'was up to date'
      say(`jadwal migrate: schema ${schema} of ${address} ${what}`, 'stdout')
      return EXIT.done
    } catch (error) {
      const trouble = judge(error)
      if (trouble === EXIT.software)
        return complain(`a migration of ${address} failed: ${reason(error)}`, trouble)
      if (trouble === EXIT.config)
        return complain(
          `Postgres at ${address} refuses DATABASE_URL: ${reason(error)}; it needs an existing database and a user who may create in it`,
          trouble,
        )
      if (systemClock.monotonicMs() > until && codeOf(error) === LOCK_NOT_AVAILABLE)
        return complain(
          `a table of ${address} is in use, its lock was not to be had for ${patienceMs / 1_000} s: end long transactions, then migrate again; it goes on where it stopped`,
          trouble,
        )
      if (systemClock.monotonicMs() > until)
        return complain(
          `no answer from Postgres at ${address} (DATABASE_URL) for ${patienceMs / 1_000} s: ${reason(error)}`,
          trouble,
        )
      await wait(PAUSE_MS)
    }
  }
}

/**
 * 28 wrong user or password, 3D no such database, 42501 no right to create; 08 connection, 53300 too
 * many connections, 55P03 a table is locked by others, 57P0x starting up or shutting down, and Node's own ECONNREFUSED and the like.
 */
function judge(error: unknown): number {
  const code = codeOf(error)
  if (/^(28...|3D...|42501)$/.test(code)) return EXIT.config
  const absent =
    /^(08...|53300|55P03|57P0.|E[A-Z_]{3,})$/.test(code) ||
    /timeout|terminated/i.test(reason(error))
  return absent ? EXIT.unavailable : EXIT.software
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : ''
}

/** One line for an error; Node's AggregateError of several addresses has no message of its own. */
function reason(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map(reason).join('; ')
  return error instanceof Error ? error.message || error.name : String(error)
}

function complaints({ say }: Pick<MigrateCommandOptions, 'say'>) {
  return (message: string, code: number): number => {
    say(`jadwal migrate: ${message}`, 'stderr')
    return code
  }
}
