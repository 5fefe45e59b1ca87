import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresDialect,
  PostgresDriver,
  type TransactionSettings,
} from 'kysely'
import pg from 'pg'
import type { Database } from './database.ts'
import { ImpatientClient } from './impatient-client.ts'
import { SchemaPlugin } from './schema-plugin.ts'

export interface DatabaseOptions {
  url: string
  schema: string
  /** Most connections at once. */
  max: number
  /** What Postgres shows as the connections' `application_name`. Default `jadwal`. */
  name?: string
  /** Hears of connections that broke while idle; the pool replaces them by itself. */
  onError?: (error: Error) => void
  /**
   * A statement without an answer for this long fails: it is cancelled and its connection dropped. 0: never.
   * Default 60 s.
   */
  queryTimeoutMs?: number
}

const INT8 = 20

/**
 * Opens a pool; connects when first used. Works through PgBouncer: no session state, no named
 * statements. Close it with `destroy()`.
 */
export function openDatabase(options: DatabaseOptions): Kysely<Database> {
  const queryTimeoutMs = options.queryTimeoutMs ?? 60_000
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    connectionTimeoutMillis: 5_000,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: options.name ?? 'jadwal',
    Client: ImpatientClient,
    types: numericTypes(),
  })
  const hear = options.onError ?? ignore
  pool.on('error', hear)
  // The pool listens to idle clients only; one that breaks in use has told its query already.
  pool.on('connect', (client) => client.on('error', ignore))
  return new Kysely<Database>({
    dialect: new TimedDialect(pool, queryTimeoutMs),
    plugins: [new SchemaPlugin(options.schema)],
  })
}

/**
 * Lets Postgres itself end a transaction whose statement takes too long, or whose client went silent
 * with locks in hand. The limits are the transaction's, not the session's: PgBouncer refuses them as
 * parameters of the connection, and would hand a session that has them to others.
 */
class TimedDialect extends PostgresDialect {
  readonly #pool: pg.Pool
  readonly #limitMs: number

  constructor(pool: pg.Pool, limitMs: number) {
    super({ pool })
    this.#pool = pool
    this.#limitMs = limitMs
  }

  override createDriver(): Driver {
    return new TimedDriver(this.#pool, this.#limitMs)
  }
}

class TimedDriver extends PostgresDriver {
  readonly #limits: string

  constructor(pool: pg.Pool, limitMs: number) {
    super({ pool })
    this.#limits =
      limitMs === 0
        ? ''
        : `; set local statement_timeout = ${limitMs}; set local idle_in_transaction_session_timeout = ${limitMs}`
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    const { isolationLevel, accessMode } = settings
    const begin = ['begin', isolationLevel && `isolation level ${isolationLevel}`, accessMode]
    const sent = `${begin.filter((part) => part !== undefined).join(' ')}${this.#limits}`
    await connection.executeQuery(CompiledQuery.raw(sent))
  }
}

/** A 64-bit integer as a number: ours are terms (ms since the epoch) and counters, far below 2^53. */
function numericTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides()
  types.setTypeParser(INT8, Number)
  return types
}

// An error of a connection without a listener would end the process.
function ignore(): void {}
