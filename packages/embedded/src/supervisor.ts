import type { SupervisorConfig } from './config.ts'
import type { DataFolder } from './data-folder.ts'
import { makeDemoChannel } from './demo-channel.ts'
import { EmbeddedServers } from './embedded-servers.ts'
import { freePort } from './free-port.ts'
import { endLeftovers, findLeftovers, ProcessList } from './process-list.ts'
import { runMigrations } from './run-migrations.ts'
import { type GaveUp, type KeeperDeps, ServiceKeeper, type ServiceSpec } from './service-keeper.ts'
import { serviceSpecs, urlHost } from './service-specs.ts'
import type { Terminal } from './terminal.ts'

const LEFTOVER_DRAIN_MS = 15_000
/** What a stage of the stop may take beyond the grace before it is killed; services end themselves earlier. */
const KILL_AFTER_GRACE_MS = 12_000
/** The same, once it was hurried. */
const KILL_AFTER_HURRY_MS = 5_000

export interface SupervisorDeps {
  data: DataFolder
  terminal: Terminal
  /** Aborts when everything shall stop; ends the waiting in `start`. */
  stop: AbortSignal
  /** Aborts when the stop is to be hurried. */
  hurry: AbortSignal
  /** A service cannot run: `stop` has to abort now. */
  onGaveUp(this: void, reason: GaveUp): void
}

/**
 * Everything that `npm start` runs: servers, then services. What was started is stopped newest first,
 * so that schedulers end before workers, workers before the recorder, and the databases last.
 */
export class Supervisor {
  readonly #config: SupervisorConfig
  readonly #deps: SupervisorDeps
  readonly #closings: (() => Promise<void>)[] = []
  readonly #kinds: ServiceKeeper[][] = []
  #isRenewing = false
  adminToken = ''
  apiPort = 0

  constructor(config: SupervisorConfig, deps: SupervisorDeps) {
    this.#config = config
    this.#deps = deps
  }

  get services(): readonly ServiceKeeper[] {
    return this.#kinds.flat()
  }

  /** Resolves when everything is ready. Throws when it cannot; what runs by then is for `stop`. */
  async start(): Promise<void> {
    const { data, terminal, stop, onGaveUp } = this.#deps
    await this.#endLeftovers()
    stop.throwIfAborted()
    const servers = new EmbeddedServers(this.#config, data, terminal)
    this.#closings.push(() => servers.stop())
    const urls = await servers.start()
    stop.throwIfAborted()
    await runMigrations(this.#config, urls.databaseUrl, terminal)
    stop.throwIfAborted()
    this.adminToken = this.#config.adminToken ?? data.secret('admin-token')
    const viewerToken = this.#config.viewerToken ?? data.secret('viewer-token')
    this.apiPort = await freePort(this.#config.port, this.#config.host)
    const { adminToken, apiPort } = this
    const kinds = serviceSpecs(this.#config, { ...urls, apiPort, adminToken, viewerToken })
    const processes = new ProcessList(data.processes)
    for (const kind of kinds) this.#startKind(kind, { terminal, processes, onGaveUp })
    terminal.say(`${this.services.length} services are starting`)
    await unlessAborted(stop, Promise.all(this.services.map(({ ready }) => ready)))
    if (!this.#config.smtpUrl) await unlessAborted(stop, this.#tellByMail())
  }

  /** Alerts arrive in the mail sink. Whatever keeps them from it is no reason not to start. */
  async #tellByMail(): Promise<void> {
    const { data, terminal } = this.#deps
    const api = `http://${urlHost(this.#config.host)}:${this.apiPort}`
    const made = await makeDemoChannel(api, this.adminToken).catch(() => false)
    if (made) terminal.say(`alerts are mailed into ${data.mail}`)
  }

  /**
   * Has every service drain and start again with the code that is installed by now. Of one kind the
   * next goes when the one before is ready again, so that code that does not start ends at the first.
   */
  async renew(): Promise<void> {
    const { terminal, stop } = this.#deps
    if (stop.aborted) return
    if (this.#isRenewing) return terminal.say('SIGUSR2: services are being started again already')
    this.#isRenewing = true
    terminal.say('SIGUSR2: each service drains and starts again')
    await Promise.all(this.#kinds.map(renewInTurn))
    this.#isRenewing = false
    if (!stop.aborted) terminal.say('every service was started again')
  }

  /** Stops everything in order; gently until `hurry` aborts. Never rejects. */
  async stop(): Promise<void> {
    for (let close = this.#closings.pop(); close; close = this.#closings.pop()) {
      await close().catch((error: unknown) => this.#deps.terminal.say(String(error)))
    }
  }

  async #endLeftovers(): Promise<void> {
    const { data, terminal } = this.#deps
    const leftovers = await findLeftovers(data.processes)
    if (leftovers.length === 0) return
    const names = leftovers.map(({ name, pid }) => `${name} (${pid})`).join(', ')
    terminal.say(`the last start was cut short; waiting for what it left to drain: ${names}`)
    await endLeftovers(leftovers, Math.min(LEFTOVER_DRAIN_MS, this.#config.graceMs))
  }

  #startKind(specs: readonly ServiceSpec[], deps: KeeperDeps): void {
    const kind = specs.map((spec) => new ServiceKeeper(spec, deps))
    this.#kinds.push(kind)
    this.#closings.push(() => this.#stopKind(kind))
    for (const service of kind) service.start()
  }

  async #stopKind(kind: readonly ServiceKeeper[]): Promise<void> {
    const { terminal, hurry } = this.#deps
    terminal.say(`stopping ${kind.map(({ name }) => name).join(', ')}`)
    const kill = new AbortController()
    const killIn = (ms: number) => setTimeout(() => kill.abort(), ms)
    const timers = [killIn(this.#config.graceMs + KILL_AFTER_GRACE_MS)]
    const hurried = (): void => void timers.push(killIn(KILL_AFTER_HURRY_MS))
    hurry.addEventListener('abort', hurried)
    if (hurry.aborted) hurried()
    await Promise.all(kind.map((service) => service.stop({ hurry, kill: kill.signal })))
    hurry.removeEventListener('abort', hurried)
    timers.forEach((timer) => clearTimeout(timer))
  }
}

async function renewInTurn(kind: readonly ServiceKeeper[]): Promise<void> {
  for (const service of kind) await service.renew()
}

async function unlessAborted(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  await Promise.race([work, aborted])
}
