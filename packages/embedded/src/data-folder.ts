import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError, newToken } from '@jadwal/runtime'
import { unprivilegedUser } from './unprivileged-user.ts'
import { readIfThere, writeWhole } from './whole-file.ts'

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

/** Makes the data folder where it is missing. Throws `ConfigError` when it can't be written to. */
export function openDataFolder(path: string): DataFolder {
  try {
    makeFolders(join(path, 'logs'))
    // As root, Postgres runs as nobody and has to get through to its own folder.
    chmodSync(path, unprivilegedUser() ? 0o711 : 0o700)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const problem = `must be a folder that can be written to (${reason})`
    throw new ConfigError([{ variable: 'JADWAL_DATA', value: path, problem }])
  }
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

/** Step by step: Node's own recursive mkdir never returns where a file system has no room for folders, as in /proc. */
function makeFolders(path: string): void {
  const parent = dirname(path)
  if (parent !== path && !existsSync(parent)) makeFolders(parent)
  if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
}

/** An empty file holds no secret. */
function readOrMake(file: string): string {
  const kept = readIfThere(file)?.trim()
  if (kept) return kept
  const secret = newToken()
  writeWhole(file, `${secret}\n`)
  return secret
}
