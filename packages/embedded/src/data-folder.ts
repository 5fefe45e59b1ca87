import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unprivilegedUser } from './unprivileged-user.ts'

/** The places in the data folder. */
export interface DataFolder {
  path: string
  lock: string
  processes: string
  redis: string
  postgres: string
  mail: string
  software: string
  logFile(server: string): string
  /** A secret that is made once and kept in a file that only its owner can read. */
  secret(name: string): string
}

export function openDataFolder(path: string): DataFolder {
  mkdirSync(join(path, 'logs'), { recursive: true, mode: 0o700 })
  // As root, Postgres runs as nobody and has to get through to its own folder.
  chmodSync(path, unprivilegedUser() ? 0o711 : 0o700)
  return {
    path,
    lock: join(path, 'supervisor.json'),
    processes: join(path, 'processes.json'),
    redis: join(path, 'redis'),
    postgres: join(path, 'postgres'),
    mail: join(path, 'mail'),
    software: join(path, 'software'),
    logFile: (server) => join(path, 'logs', `${server}.log`),
    secret: (name) => readOrMake(join(path, name)),
  }
}

function readOrMake(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    const secret = randomBytes(24).toString('base64url')
    writeFileSync(file, `${secret}\n`, { mode: 0o600 })
    return secret
  }
}
