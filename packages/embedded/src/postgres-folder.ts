import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { PostgresBinaries } from './postgres-binaries.ts'
import { isReachableByAll, reachableFolder, unprivilegedUser } from './unprivileged-user.ts'

/** Settings of a cluster that is one machine's own; written once, at initdb. */
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
shared_buffers = 128MB
logging_collector = off
log_min_messages = warning
timezone = 'UTC'
log_timezone = 'UTC'
`

/**
 * Makes the folder that holds the cluster and returns its real place. As root the cluster belongs to an
 * unprivileged user; where that user can't reach `folder`, a link in its place leads to one it can reach.
 */
export function makeClusterFolder(folder: string): string {
  const user = unprivilegedUser()
  if (!user || isReachableByAll(dirname(folder))) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (user) own(folder, user)
    return realpathSync(folder)
  }
  const place = reachableFolder(folder)
  mkdirSync(place, { recursive: true })
  chmodSync(dirname(place), 0o755)
  own(place, user)
  if (!lstatSync(folder, { throwIfNoEntry: false })) {
    // Whoever removed the data folder wants to begin anew, but left behind what lies here.
    rmSync(markerOf(place), { force: true })
    mkdirSync(dirname(folder), { recursive: true })
    symlinkSync(place, folder)
  }
  return place
}

/** Runs initdb if there is no whole cluster yet. */
export async function initCluster(
  folder: string,
  binaries: PostgresBinaries,
  password: string,
): Promise<void> {
  const done = markerOf(folder)
  if (existsSync(done)) return
  // An initdb that was cut short leaves a folder that neither starts nor lets initdb run again.
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
  const user = unprivilegedUser()
  const passwordFile = `${folder}.password`
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) chownSync(passwordFile, user.uid, user.gid)
  try {
    await promisify(execFile)(
      binaries.initdb,
      [
        `--pgdata=${folder}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--no-sync',
      ],
      { cwd: '/', env: cleanEnv(), ...user },
    )
  } finally {
    rmSync(passwordFile)
  }
  const settings = join(folder, 'postgresql.conf')
  writeFileSync(settings, `${readFileSync(settings, 'utf8')}${SETTINGS}`)
  writeFileSync(done, '')
}

/** Sets the superuser's password of a cluster that does not run; Postgres' single-user mode asks for none. */
export async function setPassword(
  folder: string,
  binaries: PostgresBinaries,
  password: string,
): Promise<void> {
  const running = promisify(execFile)(
    binaries.postgres,
    ['--single', '-D', folder, '-c', 'log_min_error_statement=panic', 'postgres'],
    { cwd: '/', env: cleanEnv(), ...unprivilegedUser() },
  )
  running.child.stdin?.on('error', () => {})
  running.child.stdin?.end(`ALTER ROLE postgres PASSWORD ${pg.escapeLiteral(password)}\n`)
  try {
    await running
  } catch (error) {
    const message = `the password of the Postgres in ${folder} is lost and could not be set anew`
    throw new Error(`${message}: ${String(error)}`, { cause: error })
  }
}

/** Written when a cluster is whole. */
function markerOf(folder: string): string {
  return join(folder, 'jadwal-initdb-done')
}

/** The environment without what would lead Postgres' programs elsewhere (PGDATA, PGPORT …). */
export function cleanEnv(): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- what is passed on to a program, not read
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))
  return { ...Object.fromEntries(entries), LC_ALL: 'C', TZ: 'UTC' }
}

function own(folder: string, user: { uid: number; gid: number }): void {
  chmodSync(folder, 0o700)
  chownSync(folder, user.uid, user.gid)
}
