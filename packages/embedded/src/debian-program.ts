import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { unpackDebianPackages } from './debian-package.ts'

export interface Program {
  file: string
  /** Folders with the libraries of an unpacked one, for `LD_LIBRARY_PATH`. */
  libraries: readonly string[]
}

export interface ProgramSearch {
  /** The `PATH` to look through. */
  path: string
  /** Where the distribution's package is unpacked, once, when the path has none. */
  unpackInto: string
  /** Hears that something slow begins. */
  onUnpack?: () => void
}

/** What a program is called, and which packages of the distribution hold it. */
export interface ProgramSource {
  names: readonly string[]
  /** The folder that they are unpacked into. */
  folder: string
  packages: readonly string[]
}

/** A program from the path; else unpacked from the distribution's packages. Throws where neither works. */
export async function findProgram(
  { names, folder, packages }: ProgramSource,
  { path, unpackInto, onUnpack }: ProgramSearch,
): Promise<Program> {
  const installed = onPath(path, names)
  if (installed) return { file: installed, libraries: [] }
  const unpacked = join(unpackInto, folder)
  if (!existsSync(unpacked)) {
    onUnpack?.()
    await unpackDebianPackages(packages, unpacked)
  }
  return await checked(unpacked, names)
}

function onPath(path: string, names: readonly string[]): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '')
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function checked(tree: string, names: readonly string[]): Promise<Program> {
  const folders = ['usr/bin', 'usr/sbin'].map((bin) => join(tree, bin))
  const file = onPath(folders.join(delimiter), names)
  if (!file) throw new Error(`the package holds no ${names.join(' or ')}`)
  const program = { file, libraries: libraryFolders(tree) }
  await promisify(execFile)(file, ['--version'], { env: programEnv(program) })
  return program
}

/** The environment to run it in. */
export function programEnv(program: Program): NodeJS.ProcessEnv {
  const libraries = program.libraries.length > 0 ? program.libraries.join(delimiter) : undefined
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
