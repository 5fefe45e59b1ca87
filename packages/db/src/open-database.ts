import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Database } from './database.ts'
import { SchemaPlugin } from './schema-plugin.ts'

export interface DatabaseOptions {
  url: string
  schema: string
  /** Most connections at once. */
  max: number
  /** Hears of connections that broke while idle; the pool replaces them by itself. */
  onError?: (error: Error) => void
  /** A statement without an answer for this long fails, and its connection is dropped. Default 60 s. */
  queryTimeoutMs?: number
}

const INT8 = 20

/**
 * Opens a pool; connects when first used. Works through PgBouncer: no session state, no named
 * statements. Close it with `destroy()`.
 */
export function openDatabase(options: DatabaseOptions): Kysely<Database> {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    connectionTimeoutMillis: 5_000,
    query_timeout: options.queryTimeoutMs ?? 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'jadwal',
    Client: ImpatientClient,
    types: numericTypes(),
  })
  const hear = options.onError ?? ignore
  pool.on('error', hear)
  // The pool listens to idle clients only; one that breaks in use has told its query already.
  pool.on('connect', (client) => client.on('error', ignore))
  return new Kysely<Database>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new SchemaPlugin(options.schema)],
  })
}

/** A 64-bit integer as a number: ours are terms (ms since the epoch) and counters, far below 2^53. */
function numericTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides()
  types.setTypeParser(INT8, Number)
  return types
}

// An error of a connection without a listener would end the process.
function ignore(): void {}

/**
 * After a timeout pg leaves the client busy with the statement that got no answer, and the pool would
 * hand it out again: here its socket goes too.
 */
class ImpatientClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    const query = this.query.bind(this) as (...args: unknown[]) => unknown
    this.query = ((...args: unknown[]) => {
      const answer = query(...args)
      if (answer instanceof Promise) answer.catch((error: unknown) => this.#dropWhenTimedOut(error))
      return answer
    }) as typeof this.query
  }

  #dropWhenTimedOut(error: unknown): void {
    if (!(error instanceof Error) || error.message !== 'Query read timeout') return
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } }
    connection.stream.destroy()
  }
}
