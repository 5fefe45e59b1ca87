import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually, makeTempFolder, removeTempFolder } from '@jadwal/testkit'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ADMIN_TOKEN, callJadwal, setupSystem, type TestSystem } from './jadwal.ts'

// Each call is a process of its own: on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let system: TestSystem
let folder = ''
beforeAll(async () => {
  folder = makeTempFolder('cli-errors')
  system = await setupSystem(['recorder'])
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
  const told = await callJadwal(['runs', 'list', '--url', 'http://127.0.0.1:2/'])
  expect(told).toMatchObject({ exitCode: 1, output: '' })
  expect(told.errors).toContain(
    'the api at http://127.0.0.1:2 cannot be reached: nothing listens there (ECONNREFUSED)',
  )
  expect(told.errors).not.toMatch(/^ +at /m)
  const asJson = await callJadwal(['jobs', '--json', '--url', 'http://127.0.0.1:2'])
  expect(JSON.parse(asJson.errors)).toEqual({ detail: expect.stringContaining('127.0.0.1:2') })
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

test('the address may stand before the command as well as behind it', async () => {
  const env = { JADWAL_URL: 'http://127.0.0.1:2' }
  for (const args of [
    ['--url', system.url, '--json', 'whoami'],
    ['whoami', '--url', system.url, '--json'],
  ])
    expect((await system.good(args, { env })).json).toMatchObject({ role: 'admin' })
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
