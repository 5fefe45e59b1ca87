import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import pg from 'pg'

/** So long a cancel may take: where Postgres can't be reached, the statement is not waited for. */
const CANCEL_WITHIN_MS = 1_000

/**
 * A client whose statement goes no further than its caller: after a timeout pg leaves Postgres at work on it
 * and itself busy with it. Here Postgres is asked to cancel it, and the connection is closed. The
 * caller hears of the timeout only then, so that a pool has no more statements in Postgres than connections.
 */
export class ImpatientClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    const query = this.query.bind(this) as (...args: unknown[]) => unknown
    this.query = ((...args: unknown[]) => {
      const answer = query(...args)
      return answer instanceof Promise
        ? answer.catch((error: unknown) => this.#endIfTimedOut(error))
        : answer
    }) as typeof this.query
  }

  async #endIfTimedOut(error: unknown): Promise<never> {
    if (error instanceof Error && error.message === 'Query read timeout') {
      const { connection } = this as unknown as { connection: { stream: Duplex } }
      // Before the end of the connection: with that PgBouncer forgets whose statement it was.
      await cancel(this)
      await close(connection.stream)
    }
    throw error
  }
}

async function close(stream: Duplex): Promise<void> {
  if (stream.closed) return
  const closed = once(stream, 'close')
  stream.destroy()
  await closed
}

/** What the types of pg leave out. */
interface CancellingConnection extends pg.Connection {
  connect(port: number | string, host?: string): void
  requestSsl(): void
  cancel(processId: number, secretKey: number): void
}
interface Cancellable {
  host: string
  port: number
  ssl: pg.ConnectionConfig['ssl']
  sslNegotiation: string
  processID: number
  secretKey: number
}

/**
 * Asks Postgres, over a connection of its own as the protocol wants it, to cancel what a client has under
 * way. Resolves when it has heard it, or can't be reached.
 */
async function cancel(client: pg.Client): Promise<void> {
  const of = client as unknown as Cancellable
  const { host, port, ssl, sslNegotiation } = of
  const config = { ssl, sslNegotiation } as pg.ConnectionConfig
  const connection = new pg.Connection(config) as CancellingConnection
  const send = (): void => connection.cancel(of.processID, of.secretKey)
  const ended = new Promise<void>((resolve) => {
    connection.on('error', () => resolve())
    connection.on('end', () => resolve())
  })
  connection.on('connect', () => {
    if (!ssl) send()
    else if (sslNegotiation !== 'direct') connection.requestSsl()
  })
  connection.on('sslconnect', send)
  const deadline = setTimeout(() => connection.stream.destroy(), CANCEL_WITHIN_MS)
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
  else connection.connect(port, host)
  await ended
  clearTimeout(deadline)
  connection.stream.destroy()
}
