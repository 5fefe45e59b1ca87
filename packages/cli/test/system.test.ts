import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { eventually, makeTempFolder, removeTempFolder } from '@jadwal/testkit'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ADMIN_TOKEN, BINARY, callJadwal, setupSystem, type TestSystem } from './jadwal.ts'

// Each call is a process of its own: on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let system: TestSystem
let folder = ''
beforeAll(async () => {
  folder = makeTempFolder('cli-errors')
  system = await setupSystem(['worker', 'scheduler', 'recorder'])
})
afterAll(async () => {
  await system[Symbol.asyncDispose]()
  removeTempFolder(folder)
})

test('the doctor finds what is wrong with a cure, by the api and without it', async () => {
  const told = await system.jadwal(['doctor', '--json'])
  const { items, ok } = told.json as {
    items: { check: string; status: string; cure?: string }[]
    ok: boolean
  }
  // The Redis of the tests keeps no append-only file.
  expect({ ok, exitCode: told.exitCode }).toEqual({ ok: false, exitCode: 1 })
  const persistence = items.find(({ check }) => check === 'redis.persistence')
  expect(persistence).toMatchObject({
    status: 'broken',
    cure: expect.stringContaining('appendonly yes'),
  })
  const checks = items.map(({ check }) => check)
  expect(checks).toEqual(
    expect.arrayContaining([
      'cli.node',
      'api',
      'api.node',
      'redis.latency',
      'redis.eviction',
      'leader',
      'workers',
      'outboxes',
      'postgres.migrations',
      'postgres.partitions',
      'postgres.connections',
    ]),
  )
  for (const { status, cure } of items) expect(status === 'ok').toBe(cure === undefined)
  const { REDIS_URL = '', DATABASE_URL = '', JADWAL_PREFIX = '' } = system.env
  const env = { REDIS_URL, DATABASE_URL, JADWAL_PREFIX, JADWAL_URL: 'http://127.0.0.1:2' }
  const direct = await system.jadwal(['doctor'], { env })
  expect(direct.exitCode).toBe(1)
  expect(direct.output).toMatch(/✗ api +the api at http:\/\/127\.0\.0\.1:2 cannot be reached/)
  expect(direct.output).toMatch(/✗ redis\.persistence/)
  expect(direct.output).toMatch(/✓ postgres\.migrations/)
  expect(direct.output).toMatch(/✓ leader +\S+ leads/)
})

test('locks are listed; the lease of a leader is taken only when it is meant', async () => {
  const list = await eventually(async () => {
    const told = await system.good(['locks', 'list'])
    expect(told.output).toMatch(/^leader +\S+/m)
    return told
  })
  expect(list.output).toMatch(/^LOCK +HELD BY/)
  const unasked = await system.jadwal(['locks', 'release', 'leader'])
  expect(unasked.exitCode).toBe(2)
  expect(unasked.errors).toContain('No tick gets two runs')
  const before = (await system.good(['leader', 'show', '--json'])).json as { term: number }
  expect((await system.good(['locks', 'release', 'leader', '--yes'])).output).toBe(
    'leader is released\n',
  )
  await eventually(
    async () => {
      const { term } = (await system.good(['leader', 'show', '--json'])).json as { term: number }
      expect(term).toBeGreaterThan(before.term)
    },
    { timeoutMs: 30_000 },
  )
  const none = await system.jadwal(['locks', 'release', 'slot:none:none', '--yes'])
  expect(none).toMatchObject({ exitCode: 1, output: '' })
})

test('bash completes commands, options, values and names', async () => {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  symlinkSync(BINARY, join(bin, 'jadwal'))
  const node = join(process.execPath, '..')
  const { output: script } = await callJadwal(['completion', 'bash'])
  const file = join(folder, 'completion.sh')
  writeFileSync(file, script)
  const complete = async (...words: string[]): Promise<string[]> => {
    const quoted = ['jadwal', ...words].map((word) => `'${word}'`).join(' ')
    const command = `source ${file}; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _jadwal; printf '%s\\n' "\${COMPREPLY[@]}"`
    const child = spawn('bash', ['--norc', '-c', command], {
      env: {
        PATH: `${bin}:${node}:/usr/bin:/bin`,
        JADWAL_URL: system.url,
        JADWAL_TOKEN: ADMIN_TOKEN,
      },
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
    await once(child, 'close')
    return text.trim().split('\n')
  }
  expect(await complete('ru')).toEqual(['runs'])
  expect(await complete('runs', '')).toEqual(expect.arrayContaining(['list', 'show', 'tail']))
  expect(await complete('runs', 'list', '--sta')).toEqual(['--state'])
  expect(await complete('runs', 'list', '--state', 'd')).toEqual(['dead'])
  expect(await complete('enqueue', 'shell.')).toEqual(['shell.exec'])
  expect(await complete('completion', '')).toEqual(['bash', 'zsh'])
})

test('the script for zsh asks the command too', async () => {
  const { output } = await callJadwal(['completion', 'zsh'])
  expect(output).toMatch(/^#compdef jadwal\n/)
  expect(output).toContain('"${words[1]}" complete --')
  expect(output).toContain('compdef _jadwal jadwal')
})

test('the tail tells of runs as they end, and Ctrl-C ends it well', async () => {
  const tail = spawn(process.execPath, [BINARY, 'runs', 'tail', '--json', '--job', 'shell.exec'], {
    env: { PATH: '/usr/bin:/bin', JADWAL_URL: system.url, JADWAL_TOKEN: ADMIN_TOKEN },
  })
  let text = ''
  let errors = ''
  tail.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  tail.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part))
  const ended = once(tail, 'close')
  const payload = JSON.stringify({ command: '/bin/echo' })
  // It hears of what ends once it listens.
  const ids: string[] = []
  await eventually(
    async () => {
      const { output } = await system.good(['enqueue', 'shell.exec', '--payload', payload])
      ids.push(output.trim())
      await wait(1_000)
      const events = text
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { id: string })
      const heard = events.find(({ id }) => ids.includes(id))
      expect(heard, `of ${events.length} events; ${errors}`).toMatchObject({
        type: 'run.succeeded',
        state: 'succeeded',
      })
    },
    { timeoutMs: 100_000 },
  )
  tail.kill('SIGINT')
  expect(await ended).toEqual([0, null])
}, 120_000)

test('a reader that has seen enough is no error', async () => {
  const shell = spawn(
    'bash',
    [
      '--norc',
      '-o',
      'pipefail',
      '-c',
      `"${process.execPath}" "${BINARY}" runs list --all --json | true`,
    ],
    {
      env: { PATH: '/usr/bin:/bin', JADWAL_URL: system.url, JADWAL_TOKEN: ADMIN_TOKEN },
    },
  )
  let errors = ''
  shell.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part))
  const [code] = (await once(shell, 'close')) as [number]
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
})
