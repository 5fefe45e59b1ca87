import { keys } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBench } from './run-bench.ts'

const SLOW_US = 2_000_000

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

test('the end of a followed run with a large payload holds up Redis no longer than another', async () => {
  await using bench = openBench(server.url)
  await bench.redis.config('SET', 'slowlog-log-slower-than', SLOW_US)
  const followed = keys.followedKey(bench.prefix, bench.queue.name)
  await bench.queue.pause()
  const id = await bench.add({ payload: { text: 'x'.repeat(60_000) } })
  await bench.redis.zadd(followed, Date.now() + 600_000, id)
  await bench.queue.resume()
  bench.work(() => ({ kind: 'succeeded', result: '1' }))
  await eventually(() => expect(bench.ends).toHaveLength(1))
  expect(await bench.redis.zcard(followed)).toBe(0)
  expect(await bench.redis.slowlog('GET')).toEqual([])
})
