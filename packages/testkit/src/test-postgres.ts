import { join } from 'node:path'
import { startPostgres } from '@jadwal/embedded'
import { killAtExit } from './kill-at-exit.ts'
import { makeMemoryFolder, makeTempFolder, removeTempFolder } from './temp-folder.ts'

export interface TestPostgres extends AsyncDisposable {
  /** Of the superuser, database `postgres`. Stays the same over `stop`, `kill` and `start`. */
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Starts again on the same port and data after `stop` or `kill`. */
  start(): Promise<void>
  /** Ends it gently; sessions are cut off. */
  stop(): Promise<void>
  kill(): Promise<void>
  /** Freezes the postmaster (SIGSTOP): nobody new gets in. */
  pause(): void
  resume(): void
}

/** What a crash of the machine may cost is not tested here, so nothing waits for the disk. */
const FAST = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/**
 * A real Postgres on a free port with its data in a temporary folder, on the disk when it is to wait for
 * it. `settings` are those of postgresql.conf.
 */
export async function startTestPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestPostgres> {
  const isDurable = settings['fsync'] === 'on'
  const temp = isDurable ? makeTempFolder('postgres') : makeMemoryFolder('postgres')
  const launch = async (port = 0) => {
    const started = await startPostgres({
      folder: join(temp, 'data'),
      port,
      password: 'jadwal',
      database: 'postgres',
      logFile: join(temp, 'postgres.log'),
      settings: { ...FAST, ...settings },
    })
    killAtExit(started.server.child)
    return started
  }
  let postgres = await launch()
  const { url, port } = postgres
  const send = (signal: NodeJS.Signals): boolean => postgres.server.child.kill(signal)
  return {
    url,
    port,
    get pid() {
      return postgres.server.identity.pid
    },
    async start() {
      postgres = await launch(port)
      if (postgres.port !== port) throw new Error(`port ${port} was taken meanwhile`)
    },
    stop: () => postgres.stop(),
    async kill() {
      send('SIGKILL')
      await postgres.server.exited
    },
    pause: () => void send('SIGSTOP'),
    resume: () => void send('SIGCONT'),
    async [Symbol.asyncDispose]() {
      send('SIGCONT')
      send('SIGQUIT')
      await postgres.server.exited
      removeTempFolder(temp)
    },
  }
}
