import { accessSync, constants, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedRedis, findRedisBinary, type Program, startRedis } from '@jadwal/embedded'
import { killAtExit } from './kill-at-exit.ts'
import { PROJECT_ROOT } from './project-root.ts'
import { makeTempFolder, removeTempFolder } from './temp-folder.ts'

export interface TestRedis extends AsyncDisposable {
  /** Stays the same over `stop`, `kill` and `start`. */
  readonly url: string
  readonly port: number
  /** Where redis.conf and the append-only files (`appendonlydir/`) lie. */
  readonly folder: string
  readonly pid: number
  /** Starts again on the same port and data after `stop` or `kill`. */
  start(): Promise<void>
  /** Ends it gently (SIGTERM). */
  stop(): Promise<void>
  kill(): Promise<void>
  /** Freezes it (SIGSTOP): connections stay, nothing answers. */
  pause(): void
  resume(): void
}

/**
 * A real Redis on a free port with its data in a temporary folder. `settings` are lines of redis.conf
 * (`{ maxmemory: '64mb' }`); the default has an append-only file and `noeviction`, as in production.
 */
export async function startTestRedis(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestRedis> {
  const binary = await findTestRedis()
  const folder = makeTempFolder('redis')
  const launch = async (port?: number): Promise<EmbeddedRedis> => {
    const logFile = join(folder, 'redis.log')
    const redis = await startRedis({ binary, folder, logFile, settings, ...(port ? { port } : {}) })
    killAtExit(redis.server.child)
    return redis
  }
  let redis = await launch()
  const { url, port } = redis
  const send = (signal: NodeJS.Signals): boolean => redis.server.child.kill(signal)
  const kill = async (): Promise<void> => {
    send('SIGKILL')
    await redis.server.exited
  }
  return {
    url,
    port,
    folder,
    get pid() {
      return redis.server.identity.pid
    },
    async start() {
      redis = await launch(port)
      if (redis.port !== port) throw new Error(`port ${port} was taken meanwhile`)
    },
    stop: () => redis.stop(),
    kill,
    pause: () => void send('SIGSTOP'),
    resume: () => void send('SIGCONT'),
    async [Symbol.asyncDispose]() {
      await kill()
      removeTempFolder(folder)
    },
  }
}

function findTestRedis(): Promise<Program> {
  return findRedisBinary({ path: process.env['PATH'] ?? '', unpackInto: softwareFolder() })
}

/** Unpacked once for all test runs: beside what `npm start` unpacks, unless another user owns that. */
function softwareFolder(): string {
  const data = join(PROJECT_ROOT, '.jadwal')
  try {
    accessSync(existsSync(data) ? data : PROJECT_ROOT, constants.W_OK)
    return join(data, 'software')
  } catch {
    return join(tmpdir(), `jadwal-software-${process.getuid?.() ?? 0}`)
  }
}
