import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '@jadwal/testkit'

const exec = promisify(execFile)
const CONSUMER = join(PROJECT_ROOT, 'test', 'sdk', 'consumer')

/** Builds the sdk as it is published and packs it into a folder. Returns the archive. */
export async function packSdk(folder: string): Promise<string> {
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1' }
  const turbo = join(PROJECT_ROOT, 'node_modules', '.bin', 'turbo')
  await exec(turbo, ['run', 'build', '--filter=@jadwal/sdk'], { cwd: PROJECT_ROOT, env })
  const built = join(PROJECT_ROOT, 'packages', 'sdk', 'dist')
  await exec('npm', ['pack', '--offline', '--pack-destination', folder], { cwd: built })
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz'))
  if (archive === undefined) throw new Error('npm pack has left no archive')
  return join(folder, archive)
}

export interface Manifest {
  private?: boolean
  type: string
  engines: Record<string, string>
  exports: Record<string, unknown>
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
}

/**
 * Makes a project of a user's: the archive unpacked where npm would put it, beside nothing but what it
 * says it depends on, and the sources of `consumer/`. The registry is not asked.
 */
export async function installSdk(archive: string, folder: string): Promise<Manifest> {
  const modules = join(folder, 'node_modules')
  const home = join(modules, '@jadwal', 'sdk')
  await mkdir(home, { recursive: true })
  await exec('tar', ['-xzf', archive, '-C', home, '--strip-components=1'])
  const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as Manifest
  const wanted = { ...manifest.dependencies, ...manifest.peerDependencies }
  for (const name of [...Object.keys(wanted), '@types/node']) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(PROJECT_ROOT, 'node_modules', name), join(modules, name))
  }
  await cp(CONSUMER, folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}')
  return manifest
}

/** Compiles the project with the strictest checks. Returns what tsc says: nothing, if it compiles. */
export async function compile(folder: string, options: Record<string, unknown>): Promise<string> {
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: true,
    ...options,
  }
  const config = join(folder, 'tsconfig.json')
  await writeFile(config, JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(PROJECT_ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  return await exec(process.execPath, [tsc, '-p', config]).then(
    ({ stdout }) => stdout,
    (error: Error & { stdout?: string }) => error.stdout ?? error.message,
  )
}
