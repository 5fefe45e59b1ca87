import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { unpackDebianPackages } from './debian-package.ts'

export interface RedisBinary {
  file: string
  /** Folders with the libraries of an unpacked one, for `LD_LIBRARY_PATH`. */
  libraries: readonly string[]
}

export interface RedisSearch {
  /** The `PATH` to look through. */
  path: string
  /** Where the distribution's package is unpacked, once, when the path has none. */
  unpackInto: string
  /** Hears that something slow begins. */
  onUnpack?: () => void
}

/** What the program is called. */
export const REDIS_NAMES = ['redis-server', 'valkey-server']
const PACKAGES = ['redis-server', 'redis-tools']

/**
 * Redis or Valkey from the path; else unpacked from the distribution's package.
 * Throws one message with the ways out when neither works.
 */
export async function findRedisBinary(search: RedisSearch): Promise<RedisBinary> {
  const installed = onPath(search.path)
  if (installed) return { file: installed, libraries: [] }
  const unpacked = join(search.unpackInto, 'redis')
  try {
    if (!existsSync(unpacked)) {
      search.onUnpack?.()
      await unpackDebianPackages(PACKAGES, unpacked)
    }
    return await checked(unpacked)
  } catch (error) {
    throw new Error(noRedis(error), { cause: error })
  }
}

function onPath(path: string): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '')
  return folders
    .flatMap((folder) => REDIS_NAMES.map((name) => join(folder, name)))
    .find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function checked(tree: string): Promise<RedisBinary> {
  const file = onPath(['usr/bin', 'usr/sbin'].map((bin) => join(tree, bin)).join(delimiter))
  if (!file) throw new Error(`the package holds no ${REDIS_NAMES.join(' or ')}`)
  const binary = { file, libraries: libraryFolders(tree) }
  await promisify(execFile)(file, ['--version'], { env: redisEnv(binary) })
  return binary
}

/** The environment to run it in. */
export function redisEnv(binary: RedisBinary): NodeJS.ProcessEnv {
  const libraries = binary.libraries.length > 0 ? binary.libraries.join(delimiter) : undefined
  // oxlint-disable-next-line node/no-process-env -- what is passed on to a program, not read
  return { ...process.env, ...(libraries ? { LD_LIBRARY_PATH: libraries } : {}) }
}

function libraryFolders(tree: string): string[] {
  const files = readdirSync(tree, { recursive: true, encoding: 'utf8' })
  const folders = files
    .filter((file) => /\.so(\.|$)/.test(file))
    .map((file) => join(tree, dirname(file)))
  return [...new Set(folders)]
}

function noRedis(error: unknown): string {
  const why =
    error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error)
  return [
    `there is no redis-server or valkey-server on the PATH, and unpacking one failed: ${why}`,
    'Ways out:',
    '  - install Redis ≥ 6.2 (apt install redis-server, brew install redis, …)',
    '  - set REDIS_URL to a Redis of yours, for example redis://127.0.0.1:6379',
    '  - docker compose up',
  ].join('\n')
}
