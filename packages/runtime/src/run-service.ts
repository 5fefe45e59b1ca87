import { type ProcessClock, processClock } from './clock.ts'
import { ConfigError } from './config-error.ts'
import { EndWatch } from './end-watch.ts'
import { EXIT } from './exit-code.ts'
import { instanceName } from './instance.ts'
import type { Lifecycle } from './lifecycle.ts'
import { createLogger, type Logger, maskErrors } from './logger.ts'
import { tellParent } from './parent.ts'
import { UnavailableError } from './unavailable-error.ts'

export interface ServiceContext {
  log: Logger
  /** Aborts when the service shall stop: take nothing more, finish what is running. */
  stop: AbortSignal
  /** Aborts at the second signal: do not wait for what is running. */
  hurry: AbortSignal
  instance: string
  clock: ProcessClock
  /** To be called with the port that the service took; whoever started it is told. */
  listening: (port: number) => void
  /** Registers what to do with an uncaught error before the service drains and exits 70. */
  onCrash: (handle: (error: unknown) => Promise<void> | void) => void
}

export interface Service<C extends ServiceConfig> {
  name: string
  env: NodeJS.ProcessEnv
  /** Throws `ConfigError`. */
  readConfig: (env: NodeJS.ProcessEnv) => C
  /** The composition root. Throws `ConfigError`, or `UnavailableError` when a server that it needs does not answer. */
  start: (config: C, context: ServiceContext) => Promise<Lifecycle>
}

export interface ServiceConfig {
  logLevel: string
  graceMs: number
  /** Hides in the errors of the log what shall not be seen. */
  mask?: ((text: string) => string) | undefined
}

/**
 * The whole life of a service's process. SIGTERM, SIGINT, SIGUSR2 or the end of the parent's channel
 * stop it gently, exit 0. A wrong environment exits 78, an unreachable server at start 69, each with one
 * message on standard error. An uncaught error drains and exits 70, and so does a stop that takes
 * longer than the grace and 10 s.
 */
export async function runService<C extends ServiceConfig>(service: Service<C>): Promise<void> {
  // A parent that was killed leaves broken pipes behind; the drain must go on all the same.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

  let config: C
  try {
    config = service.readConfig(service.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    complainOfConfig(service.name, error)
    process.exit(EXIT.config)
  }
  process.exit(await live(service, config))
}

async function live<C extends ServiceConfig>(service: Service<C>, config: C): Promise<number> {
  const instance = instanceName()
  const plainLog = createLogger(service.name, config.logLevel, instance)
  const log = config.mask ? maskErrors(plainLog, config.mask) : plainLog
  const end = new EndWatch(log, config.graceMs)
  let port: number | undefined
  log.debug('starting')

  const context: ServiceContext = {
    log,
    instance,
    clock: processClock,
    stop: end.stop,
    hurry: end.hurry,
    onCrash: (handle) => end.onCrash(handle),
    listening: (taken) => {
      port = taken
    },
  }
  let lifecycle: Lifecycle
  try {
    lifecycle = await service.start(config, context)
  } catch (error) {
    if (end.stop.aborted) return end.exitCode
    if (error instanceof ConfigError) {
      complainOfConfig(service.name, error)
      return EXIT.config
    }
    if (error instanceof UnavailableError) {
      complain(service.name, error.message)
      return EXIT.unavailable
    }
    log.fatal({ err: error }, 'start failed')
    return EXIT.software
  }
  if (!end.stop.aborted) {
    log.info({ port }, 'started')
    tellParent({ type: 'ready', ...(port === undefined ? {} : { port }) })
  }
  await end.stopped
  await lifecycle.close()
  log.info('stopped')
  return end.exitCode
}

function complainOfConfig(name: string, error: ConfigError): void {
  complain(name, `wrong environment\n${error.message.replaceAll(/^/gm, '  ')}`)
}

function complain(name: string, message: string): void {
  process.stderr.write(`jadwal ${name}: ${message}\n`)
}
