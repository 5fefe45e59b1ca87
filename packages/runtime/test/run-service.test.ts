import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeTempFolder, PROJECT_ROOT, removeTempFolder } from '@jadwal/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

const SOURCE = fileURLToPath(new URL('tiny-service.ts', import.meta.url))
const BUNDLER = join(PROJECT_ROOT, 'infra/build/bundle.mjs')

const folder = makeTempFolder('tiny-service')
const service = join(folder, 'tiny-service.mjs')
// As services are bundled: a process that has to compile its source takes a second of CPU to start.
beforeAll(() => {
  execFileSync(process.execPath, [BUNDLER, '--whole', SOURCE, service])
})
afterAll(() => removeTempFolder(folder))

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** Starts the service in a process of its own; `says` resolves when its log has the text. */
function startTiny(env: Record<string, string> = {}, ipc = false) {
  const child = spawn(process.execPath, ['--enable-source-maps', service], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
  })
  children.push(child)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  // Not `close`: that never comes when this side has closed the channel.
  const exited = Promise.all([
    once(child, 'exit'),
    ...[child.stdout, child.stderr].map(async (stream) => stream && once(stream, 'end')),
  ]).then(([[code]]) => code as number | null)
  let ended = false
  void exited.then(() => (ended = true))
  const says = async (text: string): Promise<void> => {
    while (!output.stdout.includes(text)) {
      if (ended) throw new Error(`ended without saying ${text}: ${output.stdout}`)
      await sleep(10)
    }
  }
  return { child, output, exited, says }
}

describe('runService', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGUSR2'] as const)('%s drains and exits 0', async (signal) => {
    const { child, output, exited, says } = startTiny()
    await says('"msg":"started"')
    child.kill(signal)
    expect(await exited).toBe(0)
    expect(output.stdout).toContain('"msg":"drained"')
    expect(output.stderr).toBe('')
  })

  test('a wrong environment exits 78 with one message that names every variable', async () => {
    const { output, exited } = startTiny({ JADWAL_GRACE_MS: 'x', JADWAL_PREFIX: ':' })
    expect(await exited).toBe(78)
    expect(output.stdout).toBe('')
    expect(output.stderr).toMatch(
      /^jadwal tiny: wrong environment\n  JADWAL_PREFIX must match .*\n  JADWAL_GRACE_MS must be .*\n$/,
    )
  })

  test('a server that cannot be reached exits 69 with one message', async () => {
    const { output, exited } = startTiny({ START: 'unavailable' })
    expect(await exited).toBe(69)
    expect(output.stdout).toBe('')
    expect(output.stderr).toMatch(
      /^jadwal tiny: Redis cannot be used at .* \(REDIS_URL\).*\nWays out: .*\n$/,
    )
  })

  test('any other failure at start is logged and exits 70', async () => {
    const { output, exited } = startTiny({ START: 'broken' })
    expect(await exited).toBe(70)
    expect(output.stdout).toContain('"msg":"start failed"')
  })

  test('a signal during the start is obeyed', async () => {
    const { child, exited, says, output } = startTiny({ START: 'slow', JADWAL_LOG_LEVEL: 'debug' })
    await says('"msg":"starting"')
    child.kill('SIGTERM')
    await says('"msg":"stopping"')
    expect(await exited).toBe(0)
    expect(output.stdout).not.toContain('"msg":"started"')
  })

  test('a second signal does not wait for the drain', async () => {
    const { child, exited, says } = startTiny({ CLOSE_MS: '600000' })
    await says('"msg":"started"')
    child.kill('SIGTERM')
    await says('"msg":"stopping"')
    child.kill('SIGTERM')
    await says('"msg":"asked again to stop, hurrying"')
    expect(await exited).toBe(0)
  })

  test('SIGUSR2 never hurries, and a SIGTERM after it is a first one', async () => {
    const { child, exited, says, output } = startTiny({ CLOSE_MS: '600000' })
    await says('"msg":"started"')
    child.kill('SIGUSR2')
    await says('"msg":"stopping"')
    child.kill('SIGUSR2')
    await says('"reason":"SIGUSR2","msg":"stopping already"')
    child.kill('SIGTERM')
    await says('"reason":"SIGTERM","msg":"stopping already"')
    expect(output.stdout).not.toContain('hurrying')
    child.kill('SIGTERM')
    await says('"msg":"asked again to stop, hurrying"')
    expect(await exited).toBe(0)
  })

  test('a drain that never ends is cut at the grace and 10 s, exit 70', async () => {
    const { child, exited, says, output } = startTiny({ CLOSE_MS: '600000', JADWAL_GRACE_MS: '1' })
    await says('"msg":"started"')
    child.kill('SIGTERM')
    expect(await exited).toBe(70)
    expect(output.stdout).toContain('"msg":"stop took too long, ending by force"')
  })

  test('an uncaught error is handled and drained, exit 70', async () => {
    const { output, exited } = startTiny({ CRASH_AFTER_MS: '50' })
    expect(await exited).toBe(70)
    const said = output.stdout.split('\n').map((line) => (line ? JSON.parse(line).msg : ''))
    expect(said).toEqual(
      expect.arrayContaining(['uncaught error, draining', 'crash handled', 'drained', 'stopped']),
    )
    // Of a bundle, the lines of our own source are told.
    expect(output.stdout).toMatch(/tiny-service\.ts:\d+/)
  })

  test('the parent hears the port, and its end stops the service', async () => {
    const { child, exited, says } = startTiny({}, true)
    const [message] = await once(child, 'message')
    expect(message).toEqual({ type: 'ready', port: 4_711 })
    await says('"msg":"started"')
    child.disconnect()
    expect(await exited).toBe(0)
  })
})
