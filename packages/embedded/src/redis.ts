import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { aofAdvice } from './aof-advice.ts'
import { onFreePort } from './free-port.ts'
import { identifyProcess, parseIdentity, stopProcess } from './process-identity.ts'
import { findRunningIn } from './process-search.ts'
import { type Program, programEnv } from './debian-program.ts'
import { REDIS_NAMES } from './redis-binary.ts'
import { type ServerProcess, spawnServer } from './server-process.ts'
import { readIfThere, writeWhole } from './whole-file.ts'

export interface RedisServerOptions {
  binary: Program
  /** Folder of its data; made when absent. */
  folder: string
  /** First port to try; absent: any free one. */
  port?: number
  password?: string
  logFile: string
  /** Further settings of redis.conf, over ours. */
  settings?: Readonly<Record<string, string>>
}

export interface EmbeddedRedis {
  url: string
  port: number
  server: ServerProcess
  /** Ends it after it has written everything to its append-only file. */
  stop(): Promise<void>
}

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 20_000

/**
 * Starts Redis on 127.0.0.1 with an append-only file and without eviction. One that a killed process
 * left running on this folder is stopped first. Throws with the end of its log when it does not come up.
 */
export async function startRedis(options: RedisServerOptions): Promise<EmbeddedRedis> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 })
  await stopLeftover(options.folder)
  return onFreePort(options.port ?? 0, (port) => launch(options, port))
}

async function launch(options: RedisServerOptions, port: number): Promise<EmbeddedRedis> {
  const configFile = join(options.folder, 'redis.conf')
  await writeFile(configFile, configOf(options, port), { mode: 0o600 })
  const server = await spawnServer({
    file: options.binary.file,
    args: [configFile],
    logFile: options.logFile,
    cwd: options.folder,
    env: programEnv(options.binary),
  })
  const credentials = options.password ? `:${encodeURIComponent(options.password)}@` : ''
  const url = `redis://${credentials}127.0.0.1:${port}`
  const stop = () => stopProcess(server.identity, 'SIGTERM', STOP_TIMEOUT_MS)
  try {
    writeWhole(identityFile(options.folder), JSON.stringify(server.identity))
    await answers(server, url)
  } catch (error) {
    await stop()
    throw advised(error, options)
  }
  return { url, port, server, stop }
}

/** The error, with what can be done about it where that is known. */
function advised(error: unknown, { binary, folder }: RedisServerOptions): unknown {
  if (!(error instanceof Error)) return error
  const advice = aofAdvice(error.message, binary, folder)
  return advice ? new Error(`${error.message}\n${advice}`, { cause: error }) : error
}

function configOf(options: RedisServerOptions, port: number): string {
  const settings: Record<string, string> = {
    bind: '127.0.0.1',
    port: String(port),
    dir: JSON.stringify(options.folder),
    daemonize: 'no',
    appendonly: 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    // Messages stay compact in memory: half the size, and a tenth less work. This name all versions know.
    'hash-max-ziplist-value': '1024',
    save: '""',
    ...(options.password ? { requirepass: options.password } : {}),
    ...options.settings,
  }
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}\n`)
    .join('')
}

/** Resolves when it has loaded its data and answers. */
async function answers(server: ServerProcess, url: string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS
  for (;;) {
    server.assertRunning()
    const redis = new Redis(url, { retryStrategy: () => null, lazyConnect: true })
    redis.on('error', () => {})
    try {
      await redis.connect()
      await redis.ping()
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await delay(20)
    } finally {
      redis.disconnect()
    }
  }
}

function identityFile(folder: string): string {
  return join(folder, 'redis-process.json')
}

async function stopLeftover(folder: string): Promise<void> {
  const noted = parseIdentity(readIfThere(identityFile(folder)) ?? '')
  if (noted) await stopProcess(noted, 'SIGTERM', STOP_TIMEOUT_MS)
  // Two on one append-only file would ruin it: what the note does not name is looked for.
  for (const pid of findRunningIn(folder, REDIS_NAMES)) {
    const found = await identifyProcess(pid)
    if (found) await stopProcess(found, 'SIGTERM', STOP_TIMEOUT_MS)
  }
}
