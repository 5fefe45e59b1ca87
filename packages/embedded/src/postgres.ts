import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { onFreePort } from './free-port.ts'
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts'
import { cleanEnv, initCluster, makeClusterFolder, setPassword } from './postgres-folder.ts'
import {
  identifyProcess,
  type ProcessIdentity,
  signalProcess,
  stopProcess,
  waitForEnd,
} from './process-identity.ts'
import { type ServerProcess, spawnServer } from './server-process.ts'
import { unprivilegedUser } from './unprivileged-user.ts'

export interface PostgresOptions {
  /** Folder of the cluster; made when absent. */
  folder: string
  /** First port to try; absent: any free one. */
  port?: number
  /** Of the superuser `postgres`; one that the cluster does not know becomes its new one. */
  password: string
  /** Database that is made when absent. */
  database: string
  logFile: string
  /** Further settings of postgresql.conf. */
  settings?: Readonly<Record<string, string>>
}

export interface EmbeddedPostgres {
  url: string
  port: number
  server: ServerProcess
  /** Fast shutdown: open transactions are rolled back, nothing committed is lost. */
  stop(): Promise<void>
}

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 20_000

/**
 * Starts Postgres on 127.0.0.1. One that a killed process left running on this folder is stopped first.
 * Throws with the end of the server's log when it does not come up.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = findPostgresBinaries()
  const folder = makeClusterFolder(options.folder)
  await stopLeftover(folder)
  await initCluster(folder, binaries, options.password)
  const start = () =>
    onFreePort(options.port ?? 0, (port) => startOn({ ...options, folder, port }, binaries))
  try {
    return await start()
  } catch (error) {
    if (!isWrongPassword(error)) throw error
    // Who may write the folder may set the password: a lost one locks nobody out.
    await setPassword(folder, binaries, options.password)
    return start()
  }
}

async function startOn(
  options: PostgresOptions & { port: number },
  binaries: PostgresBinaries,
): Promise<EmbeddedPostgres> {
  const { port, password, database } = options
  const server = await launch(options, binaries)
  const stop = () => stopPostgres(server.identity)
  const address = `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}`
  try {
    await createDatabase(server, `${address}/postgres`, database)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `${address}/${database}`, port, server, stop }
}

function isWrongPassword(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '28P01'
}

function launch(
  options: PostgresOptions & { port: number },
  binaries: PostgresBinaries,
): Promise<ServerProcess> {
  const settings = Object.entries({ port: String(options.port), ...options.settings })
  return spawnServer({
    file: binaries.postgres,
    args: [
      '-D',
      options.folder,
      ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    logFile: options.logFile,
    cwd: '/',
    env: cleanEnv(),
    user: unprivilegedUser(),
  })
}

async function stopPostgres(identity: ProcessIdentity): Promise<void> {
  await signalProcess(identity, 'SIGINT')
  if (await waitForEnd(identity, STOP_TIMEOUT_MS)) return
  // SIGQUIT is Postgres' immediate shutdown: recovery repairs at the next start, children end too.
  await stopProcess(identity, 'SIGQUIT', 5_000)
}

async function createDatabase(server: ServerProcess, url: string, name: string): Promise<void> {
  const client = await connect(server, url)
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}

async function connect(server: ServerProcess, url: string): Promise<pg.Client> {
  const deadline = performance.now() + START_TIMEOUT_MS
  for (;;) {
    server.assertRunning()
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => {})
      if (isWrongPassword(error) || performance.now() > deadline) throw error
      await delay(20)
    }
  }
}

/** Postgres names its process in postmaster.pid: pid, data folder, start time in seconds, port. */
async function stopLeftover(folder: string): Promise<void> {
  const file = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')
  const [pid, dataFolder] = file.split('\n')
  const identity = await identifyProcess(Number(pid))
  if (!identity || dataFolder !== folder || !(await isPostgres(identity.pid))) return
  await stopPostgres(identity)
}

/** After a restart of the machine the pid may belong to a stranger. */
async function isPostgres(pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return true
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
  return name.trim() === 'postgres'
}
