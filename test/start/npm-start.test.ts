import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { identifyProcess } from '@jadwal/embedded'
import {
  eventually,
  makeTempFolder,
  PROJECT_ROOT,
  removeTempFolder,
  type ServiceProcess,
  spawnMain,
} from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** One story on one data folder: started, stopped, started again, killed, started again. */
const READY = 'admin token'
const START_TIMEOUT_MS = 100_000

let data = ''
let running: ServiceProcess | undefined
beforeAll(() => {
  data = makeTempFolder('start')
})
afterAll(async () => {
  await running?.stop()
  removeTempFolder(data)
})

test('the demo runs: a tick fires, its run ends, and the api shows it', async () => {
  const { api, token } = await start()
  const run = await eventually(() => firstRun(api, token), { timeoutMs: 30_000 })
  expect(run).toMatchObject({ job: 'demo.hello', schedule: 'heartbeat', state: 'succeeded' })
})

test('Ctrl-C stops everything, with every fact recorded', async () => {
  const pids = await processes()
  expect(pids.length).toBeGreaterThanOrEqual(8)
  running?.child.kill('SIGINT')
  expect(await running?.exitCode()).toBe(0)
  expect(await living(pids)).toEqual([])
})

test('a second start has the history and the token of the first', async () => {
  const before = readFileSync(join(data, 'admin-token'), 'utf8').trim()
  const { api, token } = await start()
  expect(token).toBe(before)
  const { items } = await get(`${api}/api/v1/runs?schedule=heartbeat&limit=100`, token)
  const oldest = items.at(-1)
  expect(oldest).toMatchObject({ state: 'succeeded' })
})

test('at SIGUSR2 every service drains and starts again, beside the same servers', async () => {
  const before = await services()
  const servers = (await processes()).filter((pid) => !before.has(pid))
  running?.child.kill('SIGUSR2')
  await running?.waitForLog('every service was started again', START_TIMEOUT_MS)
  const after = await services()
  expect(after.size).toBe(before.size)
  expect([...after].filter((pid) => before.has(pid))).toEqual([])
  expect(await living([...before])).toEqual([])
  expect(await living(servers)).toEqual(servers)
})

test('after kill -9 nothing of it remains once the next start is ready, and that one stops cleanly', async () => {
  const pids = await processes()
  await running?.kill()
  const { api, token } = await start()
  expect(await living(pids)).toEqual([])
  expect((await get(`${api}/api/v1/runs?limit=1`, token)).items).toHaveLength(1)
  const again = await processes()
  expect(await running?.stop()).toBe(0)
  expect(await living(again)).toEqual([])
})

async function start(): Promise<{ api: string; token: string }> {
  running = spawnMain(join(PROJECT_ROOT, 'infra', 'scripts', 'start.mjs'), {
    JADWAL_DATA: data,
    JADWAL_PORT: '0',
  })
  const line = await running.waitForLog(READY, START_TIMEOUT_MS)
  const page = await running.waitForLog(/^ +page +http/)
  const address = page.trim().split(/\s+/).at(-1) ?? ''
  return { api: address.replace(/\/$/, ''), token: line.trim().split(/\s+/).at(-1) ?? '' }
}

interface RunItem {
  job: string
  schedule?: string
  state: string
}

async function firstRun(api: string, token: string): Promise<RunItem> {
  const { items } = await get(`${api}/api/v1/runs?schedule=heartbeat&state=succeeded`, token)
  const [run] = items
  if (!run) throw new Error('no run of heartbeat has succeeded')
  return run
}

async function get(url: string, token: string): Promise<{ items: RunItem[] }> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  expect(answer.status).toBe(200)
  return (await answer.json()) as { items: RunItem[] }
}

async function services(): Promise<Set<number>> {
  const list = JSON.parse(readFileSync(join(data, 'processes.json'), 'utf8')) as { pid: number }[]
  return new Set(await living(list.map(({ pid }) => pid)))
}

/** The pids of the services and of the servers. */
async function processes(): Promise<number[]> {
  const redis = JSON.parse(readFileSync(join(data, 'redis', 'redis-process.json'), 'utf8')) as {
    pid: number
  }
  const postmaster = join(data, 'postgres', 'postmaster.pid')
  const postgres = existsSync(postmaster)
    ? [Number.parseInt(readFileSync(postmaster, 'utf8'), 10)]
    : []
  return living([...(await services()), redis.pid, ...postgres])
}

async function living(pids: readonly number[]): Promise<number[]> {
  const found = await Promise.all(pids.map(identifyProcess))
  return pids.filter((_, index) => found[index])
}
