import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

test('version and help at every level are no errors', async () => {
  expect(await callJadwal(['--version'])).toMatchObject({ exitCode: 0, output: '0.1.0\n' })
  const help = await callJadwal(['--help'])
  expect(help).toMatchObject({ exitCode: 0, errors: '' })
  expect(help.output).toContain('Examples:')
  const list = await callJadwal(['runs', 'list', '--help'])
  expect(list.output).toContain('Exit codes: 0 done')
})

test.each([
  [['runs', 'lst'], "unknown command 'lst'"],
  [['runs', 'list', '--state', 'ded'], 'It must be one of queued, running'],
  [['runs', 'list', '--from', 'yesterday'], 'It must be an instant such as'],
  [['enqueue'], 'name a job, or give --batch'],
  [['enqueue', 'a', '--payload', '{'], '--payload is no JSON'],
  [['enqueue', 'a', '--delay', '5m', '--run-at', 'now'], 'do not go together'],
  [['dead', 'redrive'], 'say which dead letters to redrive'],
  [['runs', 'list', '--url', 'ftp://x'], '--url "ftp://x" is no address'],
  [['runs', 'list', '--url', 'http://me:pw@x'], 'must not have a user or password'],
  [['runs', 'list', '--token-file', '/nowhere'], '--token-file /nowhere cannot be read'],
])('%j is no command line: 2', async (args, message) => {
  const told = await callJadwal(args)
  expect(told).toMatchObject({ exitCode: 2, output: '' })
  expect(told.errors).toContain(message)
})

test('an api that is away is told with its address, and nothing of a stack', async () => {
  const told = await callJadwal(['runs', 'list', '--url', 'http://127.0.0.1:1/'])
  expect(told).toMatchObject({ exitCode: 1, output: '' })
  expect(told.errors).toContain(
    'the api at http://127.0.0.1:1 cannot be reached: nothing listens there (ECONNREFUSED)',
  )
  expect(told.errors).not.toMatch(/^ +at /m)
  const asJson = await callJadwal(['jobs', '--json', '--url', 'http://127.0.0.1:1'])
  expect(JSON.parse(asJson.errors)).toEqual({ detail: expect.stringContaining('127.0.0.1:1') })
})

test('what is no api of Jadwal is told so, and gets no token by a redirect', async () => {
  const heard: (string | undefined)[] = []
  const server = createServer((req, res) => {
    heard.push(req.headers.authorization)
    if (req.url?.startsWith('/moved')) res.writeHead(302, { location: '/elsewhere' }).end()
    else res.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const env = { JADWAL_TOKEN: 'some-token' }
    expect((await callJadwal(['jobs', '--url', url], { env })).errors).toContain(
      'is no api of Jadwal',
    )
    const moved = await callJadwal(['jobs', '--url', `${url}/moved`], { env })
    expect(moved.errors).toContain('sends on to /elsewhere')
    expect(heard).toHaveLength(2)
  } finally {
    server.close()
  }
})

test('without a token, or a wrong one, the way to one is told; a token in a file opens', async () => {
  const without = await system.jadwal(['jobs'], { env: { JADWAL_TOKEN: '' } })
  expect(without.exitCode).toBe(1)
  expect(without.errors).toContain('jadwal token create NAME --role operator')
  const wrong = await system.jadwal(['jobs', '--json'], { env: { JADWAL_TOKEN: 'wrong-token' } })
  expect(wrong.exitCode).toBe(1)
  expect(JSON.parse(wrong.errors)).toMatchObject({
    status: 401,
    type: expect.stringContaining('unauthorized'),
  })
  const file = join(folder, 'token')
  writeFileSync(file, `${ADMIN_TOKEN}\n`)
  const good = await system.good(['whoami', '--token-file', file], { env: { JADWAL_TOKEN: '' } })
  expect(good.output).toMatch(/^name +admin\nrole +admin\n/)
})

test('a token is made, has its role and no other, and is revoked; the audit log has it', async () => {
  const made = await system.good([
    'token',
    'create',
    'looker',
    '--role',
    'viewer',
    '--expires-in-days',
    '1',
    '--json',
  ])
  const { id, token } = made.json as { id: string; token: string }
  const env = { JADWAL_TOKEN: token }
  expect((await system.good(['whoami', '--json'], { env })).json).toMatchObject({
    name: 'looker',
    role: 'viewer',
  })
  const refused = await system.jadwal(['schedules', 'pause', '--everything'], { env })
  expect(refused.exitCode).toBe(1)
  expect(refused.errors).toContain('Not allowed (403)')
  expect(refused.errors).toContain('"jadwal whoami" says who you are')
  expect((await system.good(['token', 'list'])).output).toContain('looker')
  expect((await system.good(['token', 'revoke', id, '--yes'])).output).toBe(`${id} is revoked\n`)
  expect((await system.jadwal(['whoami'], { env })).exitCode).toBe(1)
  await eventually(async () => {
    const { output } = await system.good(['audit', '--action', 'tokens.revoke'])
    expect(output).toContain(`tokens/${id}`)
  })
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
  const env = { REDIS_URL, DATABASE_URL, JADWAL_PREFIX, JADWAL_URL: 'http://127.0.0.1:1' }
  const direct = await system.jadwal(['doctor'], { env })
  expect(direct.exitCode).toBe(1)
  expect(direct.output).toMatch(/✗ api +the api at http:\/\/127\.0\.0\.1:1 cannot be reached/)
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
  tail.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  const ended = once(tail, 'close')
  const payload = JSON.stringify({ command: '/bin/echo' })
  await eventually(
    async () => {
      const { output } = await system.good(['enqueue', 'shell.exec', '--payload', payload])
      await wait(1_000)
      const events = text
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as object)
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'run.succeeded', id: output.trim(), state: 'succeeded' }),
      )
    },
    { timeoutMs: 60_000 },
  )
  tail.kill('SIGINT')
  expect(await ended).toEqual([0, null])
})

test('a reader that has seen enough is no error', async () => {
  const shell = spawn(
    'bash',
    ['-o', 'pipefail', '-c', `"${process.execPath}" "${BINARY}" runs list --all --json | true`],
    {
      env: { PATH: '/usr/bin:/bin', JADWAL_URL: system.url, JADWAL_TOKEN: ADMIN_TOKEN },
    },
  )
  let errors = ''
  shell.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part))
  const [code] = (await once(shell, 'close')) as [number]
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
})
