import { fileURLToPath } from 'node:url'
import { keys, readFuses } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBench } from './worker-bench.ts'

const jobsOf = (url: URL): { JADWAL_JOBS: string } => ({ JADWAL_JOBS: fileURLToPath(url) })
const FUSED = jobsOf(new URL('fixtures/fused-jobs.mjs', import.meta.url))
const UNFUSED = jobsOf(new URL('fixtures/unfused-jobs.mjs', import.meta.url))
const PARTNER = { name: 'partner', queue: 'tests' }
const PATIENT = { timeoutMs: 30_000 }

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

type Bench = ReturnType<typeof openBench>

const STATES: Record<string, string> = { well: 'succeeded' }

async function endAll(bench: Bench, ends: readonly string[]): Promise<void> {
  const ids = await Promise.all(ends.map((end) => bench.add('partner', { ends: end })))
  await Promise.all(ids.map((id, i) => bench.reached(id, STATES[ends[i] ?? ''] ?? 'dead')))
}

const isOpen = (bench: Bench): Promise<void> =>
  eventually(async () => expect(await view(bench)).toMatchObject({ state: 'open' }), PATIENT)

const areParked = (bench: Bench, parked: number): Promise<void> =>
  eventually(
    async () => expect(await view(bench)).toMatchObject({ state: 'open', parked }),
    PATIENT,
  )

async function openFuse(bench: Bench): Promise<void> {
  await endAll(bench, ['failed', 'failed', 'failed', 'failed'])
  await isOpen(bench)
}

/** As if the time that the fuse is open were over. */
async function pass({ redis, prefix }: Bench): Promise<void> {
  await redis.hset(keys.fuseKey(prefix, 'tests', 'partner'), 'until', 1)
}

async function view({ redis, prefix }: Bench) {
  return (await readFuses(redis, prefix, [PARTNER]))[0]
}

async function isOpenAt(port: number): Promise<string | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return /^jadwal_fuse_open\{queue="tests",job="partner"\} (\d)$/m.exec(text)?.[1]
}

async function eventTypes({ redis, prefix }: Bench): Promise<string[]> {
  const entries = await redis.xrange(keys.eventsKey(prefix), '-', '+')
  return entries.map(([, fields]) => fields[1] ?? '')
}

test('a job whose attempts fail has its runs parked, and made when a probe has succeeded', async () => {
  await using bench = openBench(server.url)
  const [one, two] = await Promise.all([bench.work(FUSED), bench.work(FUSED)])
  await eventually(async () => expect(await isOpenAt(one.port)).toBe('0'))
  await openFuse(bench)
  await eventually(async () => {
    expect(await isOpenAt(one.port)).toBe('1')
    expect(await isOpenAt(two.port)).toBe('1')
  }, PATIENT)
  const ids = await Promise.all([1, 2, 3].map(() => bench.add('partner', { ends: 'well' })))
  await areParked(bench, 3)
  await pass(bench)
  for (const id of ids) expect(await bench.reached(id, 'succeeded')).toMatchObject({ attempt: 1 })
  await eventually(async () => {
    expect(await view(bench)).toEqual({ state: 'closed', parked: 0 })
    expect(await isOpenAt(one.port)).toBe('0')
    expect(await isOpenAt(two.port)).toBe('0')
    expect(await eventTypes(bench)).toEqual(['fuse.opened', 'fuse.closed'])
  }, PATIENT)
})

test('a probe that fails keeps the others parked', async () => {
  await using bench = openBench(server.url)
  await bench.work(FUSED)
  await openFuse(bench)
  const probe = await bench.add('partner', { ends: 'failed' })
  await areParked(bench, 1)
  const other = await bench.add('partner', { ends: 'well' })
  await areParked(bench, 2)
  await pass(bench)
  await bench.reached(probe, 'dead')
  await isOpen(bench)
  await pass(bench)
  expect(await bench.reached(other, 'succeeded')).toMatchObject({ attempt: 1 })
})

test('what one run alone is to blame for opens no fuse', async () => {
  await using bench = openBench(server.url)
  await bench.work(FUSED)
  await endAll(bench, ['permanent', 'permanent', 'permanent', 'no such end', 'failed', 'well'])
  const counted = keys.fuseWindowKey(bench.prefix, 'tests', 'partner')
  await eventually(async () => {
    const counts = (await bench.redis.hvals(counted)).map(Number)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2)
  }, PATIENT)
  expect(await view(bench)).toEqual({ state: 'closed', parked: 0 })
  await endAll(bench, ['failed', 'well'])
  await isOpen(bench)
})

test('a version of the job that has no fuse makes what is parked, once nobody looks after it', async () => {
  await using bench = openBench(server.url)
  const fused = await bench.work(FUSED)
  await openFuse(bench)
  const id = await bench.add('partner', { ends: 'well' })
  await areParked(bench, 1)
  await fused.close()
  await bench.redis.hset(keys.fuseKey(bench.prefix, 'tests', 'partner'), 'lookedAt', 1)
  await bench.work(UNFUSED)
  expect(await bench.reached(id, 'succeeded')).toMatchObject({ attempt: 1 })
  expect(await view(bench)).toEqual({ state: 'closed', parked: 0 })
})

test('workers that start while a fuse is open keep to it', async () => {
  await using bench = openBench(server.url)
  const first = await bench.work(FUSED)
  await openFuse(bench)
  await first.close()
  const second = await bench.work(FUSED)
  await eventually(async () => expect(await isOpenAt(second.port)).toBe('1'), PATIENT)
  const id = await bench.add('partner', { ends: 'well' })
  await areParked(bench, 1)
  await pass(bench)
  await bench.reached(id, 'succeeded')
})

test('a worker whose jobs have no fuses listens for none', async () => {
  await using bench = openBench(server.url)
  await bench.work(UNFUSED)
  await endAll(bench, ['failed', 'failed', 'failed', 'failed', 'well'])
  expect(await bench.redis.pubsub('CHANNELS', keys.fuseChannel(bench.prefix, 'tests'))).toEqual([])
  expect(await bench.redis.keys(`*${bench.prefix}*fuse*`)).toEqual([])
})

test('a fuse and its parked runs outlast a restart of Redis', async () => {
  await using own = await startTestRedis()
  await using bench = openBench(own.url)
  await bench.work(FUSED)
  await openFuse(bench)
  const id = await bench.add('partner', { ends: 'well' })
  await areParked(bench, 1)
  await own.stop()
  await own.start()
  expect(await view(bench)).toMatchObject({ state: 'open', parked: 1 })
  await pass(bench)
  expect(await bench.reached(id, 'succeeded')).toMatchObject({ attempt: 1 })
})
