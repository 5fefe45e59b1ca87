// What every command of the project does first. Plain JavaScript without dependencies: it has to run
// on a fresh clone, where nothing is installed yet.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LEAST_NODE = [20, 19]

/** Ends the process with one clear message. */
function fail(message, exitCode = 1) {
  process.stderr.write(`jadwal: ${message}\n`)
  process.exit(exitCode)
}

export function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [leastMajor, leastMinor] = LEAST_NODE
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return
  fail(
    `needs Node ≥ ${LEAST_NODE.join('.')}, this is ${process.versions.node} (https://nodejs.org)`,
  )
}

/** Installs from the lockfile, unless what it names is installed. */
export async function ensureInstalled() {
  if (isInstalled()) return
  const unlock = await takeInstallLock()
  try {
    // Somebody else (`npm test` beside `npm start`) may have done it meanwhile.
    if (isInstalled()) return
    process.stdout.write('jadwal: installing what package-lock.json names (npm ci)\n')
    const { code, output } = await run(npm(), ['ci', '--no-audit', '--no-fund'], { quiet: true })
    if (code !== 0) fail(`npm ci failed:\n${output}`, 69)
  } finally {
    unlock()
  }
}

/** Bundles every service and program, but not what is published; quick when nothing has changed. */
export async function ensureBuilt() {
  const turbo = join(ROOT, 'node_modules', '.bin', 'turbo')
  const args = ['run', 'build', '--filter=!@jadwal/sdk', '--output-logs=errors-only']
  const { code, output } = await run(turbo, args, {
    quiet: true,
    env: { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
  })
  if (code !== 0) fail(`the build failed:\n${output}`, 70)
}

/** Runs a program in the project's folder. `quiet` keeps its output for the caller. */
export function run(file, args, { quiet = false, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    child.once('error', (error) => resolve({ code: 127, output: `${file}: ${error.message}` }))
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** A program that an installed package brings. */
export function tool(name) {
  return join(ROOT, 'node_modules', '.bin', name)
}

function npm() {
  return process.platform === 'win32' ? 'npm.cmd' : 'npm'
}

/** Compares the lockfile with the one that npm leaves in node_modules when it is done. */
function isInstalled() {
  const wanted = packagesIn(join(ROOT, 'package-lock.json'))
  const installed = packagesIn(join(ROOT, 'node_modules', '.package-lock.json'))
  return Object.entries(wanted).every(([path, { version, optional, link }]) => {
    if (!path.startsWith('node_modules/')) return true
    const found = installed[path]
    // Optional ones are often for other platforms.
    return found ? link || found.version === version : optional
  })
}

function packagesIn(file) {
  if (!existsSync(file)) return {}
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

async function takeInstallLock() {
  const file = join(ROOT, '.jadwal', 'install.lock')
  mkdirSync(join(file, '..'), { recursive: true })
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      return () => rmSync(file, { force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      if (!isRunning(file)) rmSync(file, { force: true })
      await delay(200)
    }
  }
}

function isRunning(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    if (pid === process.pid || pid === 0) return false
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
