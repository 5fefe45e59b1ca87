import { keys } from '@jadwal/queue'
import { startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tellChange } from '../src/fuse-change.ts'
import { mendFuses } from '../src/fuse-net.ts'
import { JOB, openFuseBench, QUEUE } from './setup-fuse.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const netOf = ({ redis, prefix }: ReturnType<typeof openFuseBench>, jobs: string[] = []) => ({
  redis,
  prefix,
  queue: QUEUE,
  jobs,
})

test('a fuse that nobody looks after any more is closed, and its runs are let out', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  const ids = await bench.park(3)
  await bench.redis.hset(bench.fuseKey, 'lookedAt', 1)
  const { left, made } = await mendFuses(netOf(bench))
  expect(made).toMatchObject([{ type: 'closed', job: JOB, parked: 3 }])
  expect(left).toBe(0)
  expect(await bench.waiting()).toEqual(ids)
  expect(await bench.redis.exists(keys.fusesKey(bench.prefix, QUEUE))).toBe(0)
})

test('a fuse that a worker of another version looks after stays as it is', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  await bench.park(1)
  await bench.look()
  expect(await mendFuses(netOf(bench))).toEqual({ left: 0, untold: [], made: [] })
  expect(await bench.state()).toBe('open')
})

test('a fuse of a job that is known here is left to its own watch, however long nobody looked', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  await bench.park(1)
  await bench.redis.hset(bench.fuseKey, 'lookedAt', 1)
  await mendFuses(netOf(bench, [JOB]))
  expect(await bench.state()).toBe('open')
  expect(await bench.parked()).toHaveLength(1)
})

test('runs that were left in the lot of a closed fuse are let out', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  const ids = await bench.park(2)
  await bench.redis.del(bench.fuseKey)
  await mendFuses(netOf(bench))
  expect(await bench.waiting()).toEqual(ids)
})

test('a change is told once by its maker, and later by the net when the maker did not', async () => {
  await using bench = openFuseBench(server.url)
  const { redis, prefix } = bench
  const [opened] = (await bench.open()).changes
  if (!opened) throw new Error('not opened')
  expect((await mendFuses(netOf(bench))).untold).toEqual([])
  await redis.lset(bench.newsKey, 0, opened.text.replace(`"at":${opened.at}`, '"at":1000'))
  const [untold] = (await mendFuses(netOf(bench))).untold
  expect(untold).toMatchObject({ type: 'opened', at: 1_000 })
  if (untold) await tellChange(redis, prefix, untold)
  expect((await mendFuses(netOf(bench))).untold).toEqual([])
  const [entry] = await redis.xrange(keys.eventsKey(prefix), '-', '+')
  const fields = entry?.[1] ?? []
  expect(fields.slice(0, 5)).toEqual([
    'type',
    'fuse.opened',
    'at',
    '1970-01-01T00:00:01.000Z',
    'data',
  ])
  expect(JSON.parse(fields[5] ?? '')).toMatchObject({ queue: QUEUE, job: JOB, failed: 4, ended: 4 })
})

test('a fuse that opens again tells nobody: its runs have been parked all along', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  await bench.add(1)
  await bench.pass()
  const [probe] = await bench.takeAll()
  const [reopened] = probe ? (await bench.end(probe, 'bad')).changes : []
  expect(reopened).toMatchObject({ type: 'reopened', times: 2 })
  expect(await bench.redis.llen(bench.newsKey)).toBe(1)
})
