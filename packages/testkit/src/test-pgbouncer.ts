import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, freePort, type Program, programEnv } from '@jadwal/embedded'
import pg from 'pg'
import { eventually } from './eventually.ts'
import { killAtExit } from './kill-at-exit.ts'
import { makeTempFolder, removeTempFolder } from './temp-folder.ts'

/** Where Debian puts it is not in everybody's path. */
const PATH = '/usr/sbin:/usr/bin:/usr/local/bin'
const SOURCE = { names: ['pgbouncer'], folder: 'pgbouncer', packages: ['pgbouncer'] }

export interface TestPgBouncer extends AsyncDisposable {
  /** The same database, through PgBouncer. */
  readonly url: string
  /** Connections of PgBouncer to Postgres right now. */
  servers(): Promise<number>
}

/**
 * A real PgBouncer in transaction mode before a database, with a few connections to it: the one of this
 * machine, else unpacked from its distribution's package. Throws, with what to install, where there is none.
 */
export async function startTestPgBouncer(
  databaseUrl: string,
  { poolSize = 5 }: { poolSize?: number } = {},
): Promise<TestPgBouncer> {
  const program = await findPgBouncer()
  const target = new URL(databaseUrl)
  const folder = makeTempFolder('pgbouncer')
  const port = await freePort()
  const ini = join(folder, 'pgbouncer.ini')
  writeFileSync(
    join(folder, 'users.txt'),
    `"${decodeURIComponent(target.username)}" "${decodeURIComponent(target.password)}"\n`,
  )
  writeFileSync(
    ini,
    [
      '[databases]',
      `* = host=${target.hostname} port=${target.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = plain',
      `auth_file = ${join(folder, 'users.txt')}`,
      `admin_users = ${decodeURIComponent(target.username)}`,
      'pool_mode = transaction',
      `default_pool_size = ${poolSize}`,
      'max_client_conn = 500',
      'query_wait_timeout = 30',
      '',
    ].join('\n'),
  )
  const child = spawn(program.file, [ini], {
    env: programEnv(program),
    stdio: ['ignore', 'ignore', 'pipe'],
    ...unprivileged(folder),
  })
  killAtExit(child)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-10_000)
  })
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  await eventually(() => ask(url.href, 'SELECT 1')).catch((cause: unknown) => {
    throw new Error(`PgBouncer does not answer:\n${said}`, { cause })
  })
  const admin = new URL(url)
  admin.pathname = '/pgbouncer'
  return {
    url: url.href,
    servers: async () => (await ask(admin.href, 'SHOW SERVERS')).length,
    async [Symbol.asyncDispose]() {
      await end(child)
      removeTempFolder(folder)
    },
  }
}

/** Unpacked where the user that it runs as can read it. */
async function findPgBouncer(): Promise<Program> {
  const unpackInto = join(tmpdir(), `jadwal-software-${process.getuid?.() ?? 0}`)
  return await findProgram(SOURCE, { path: PATH, unpackInto }).catch((cause: unknown) => {
    throw new Error(
      'no PgBouncer on this machine, and its package could not be unpacked: install it with apt-get install pgbouncer',
      { cause },
    )
  })
}

/** PgBouncer does not run as root. */
function unprivileged(folder: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((which) =>
    Number(execFileSync('id', [which, 'nobody'], { encoding: 'utf8' })),
  )
  if (uid === undefined || gid === undefined) return {}
  chmodSync(folder, 0o700)
  for (const path of [folder, join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')])
    chownSync(path, uid, gid)
  return { uid, gid }
}

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}
