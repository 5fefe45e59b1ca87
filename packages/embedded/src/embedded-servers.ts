import type { SupervisorConfig } from './config.ts'
import type { DataFolder } from './data-folder.ts'
import { startMailSink } from './mail-sink.ts'
import { startPostgres } from './postgres.ts'
import { findRedisBinary } from './redis-binary.ts'
import { startRedis } from './redis.ts'
import { keepServer } from './server-keeper.ts'
import type { Terminal } from './terminal.ts'

const POSTGRES_PORT = 54_320
const REDIS_PORT = 63_790
const MAIL_PORT = 2_525

export interface ServerUrls {
  databaseUrl: string
  redisUrl: string
  smtpUrl: string
}

interface Stoppable {
  stop(): Promise<void>
}

/** The servers that the environment names no address of: Postgres, Redis, and a sink for mail. */
export class EmbeddedServers {
  readonly #config: SupervisorConfig
  readonly #data: DataFolder
  readonly #terminal: Terminal
  #mail: Stoppable | undefined
  #redis: Stoppable | undefined
  #postgres: Stoppable | undefined

  constructor(config: SupervisorConfig, data: DataFolder, terminal: Terminal) {
    this.#config = config
    this.#data = data
    this.#terminal = terminal
  }

  /** Throws when one does not come up; the others run by then and are for `stop`. */
  async start(): Promise<ServerUrls> {
    const starting = [this.#startPostgres(), this.#startRedis(), this.#startMail()] as const
    await Promise.allSettled(starting)
    const [databaseUrl, redisUrl, smtpUrl] = await Promise.all(starting)
    return { databaseUrl, redisUrl, smtpUrl }
  }

  async stop(): Promise<void> {
    for (const server of [this.#mail, this.#redis, this.#postgres]) await server?.stop()
  }

  async #startPostgres(): Promise<string> {
    if (this.#config.databaseUrl) return this.#config.databaseUrl
    const start = (port: number) =>
      startPostgres({
        folder: this.#data.postgres,
        port,
        password: this.#data.secret('postgres-password'),
        database: 'jadwal',
        logFile: this.#data.logFile('postgres'),
      })
    const spec = { name: 'Postgres', preferredPort: POSTGRES_PORT, start }
    const server = await keepServer(spec, this.#terminal)
    this.#postgres = server
    return server.url
  }

  async #startRedis(): Promise<string> {
    if (this.#config.redisUrl) return this.#config.redisUrl
    const binary = await findRedisBinary({
      path: this.#config.path,
      unpackInto: this.#data.software,
      onUnpack: () =>
        this.#terminal.say('no Redis on this machine: one is unpacked into the data folder'),
    })
    const start = (port: number) =>
      startRedis({
        binary,
        folder: this.#data.redis,
        port,
        password: this.#data.secret('redis-password'),
        logFile: this.#data.logFile('redis'),
      })
    const spec = { name: 'Redis', preferredPort: REDIS_PORT, start }
    const server = await keepServer(spec, this.#terminal)
    this.#redis = server
    return server.url
  }

  async #startMail(): Promise<string> {
    if (this.#config.smtpUrl) return this.#config.smtpUrl
    const sink = await startMailSink(this.#data.mail, MAIL_PORT)
    this.#terminal.say(`mail to 127.0.0.1:${sink.port} is kept in ${this.#data.mail}`)
    this.#mail = sink
    return sink.url
  }
}
