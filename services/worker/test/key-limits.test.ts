import { fileURLToPath } from 'node:url'
import { keys } from '@jadwal/queue'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBench } from './worker-bench.ts'

const JADWAL_JOBS = fileURLToPath(new URL('fixtures/limited-jobs.mjs', import.meta.url))

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

test('the key is made of the payload as the handler gets it, and kept in the history', async () => {
  await using bench = openBench(server.url)
  await bench.work({ JADWAL_JOBS })
  const ids: string[] = []
  while (ids.length < 5) ids.push(await bench.add('keyed', { ms: 50 }))
  for (const id of ids) {
    const fact = await bench.reached(id, 'succeeded')
    expect(fact).toMatchObject({
      attempt: 1,
      concurrency_key: 'filled',
      result: { attempt: 1, most: 1 },
    })
  }
})

test('a run with an empty key waits for no other', async () => {
  await using bench = openBench(server.url)
  await bench.work({ JADWAL_JOBS })
  const ids = await Promise.all(Array.from({ length: 3 }, () => bench.add('unkeyed', { ms: 400 })))
  const facts = await Promise.all(ids.map((id) => bench.reached(id, 'succeeded')))
  expect(facts.some((fact) => (fact['result'] as { most: number }).most > 1)).toBe(true)
  expect(facts[0]).not.toHaveProperty('concurrency_key')
})

test('a long key is shown in part, and one with a secret in it is hidden', async () => {
  await using bench = openBench(server.url)
  await bench.work({ JADWAL_JOBS, JADWAL_SECRET_TOKEN: 'hush-hush-hush' })
  const long = await bench.add('keyed', { key: 'k'.repeat(5_000) })
  expect((await bench.reached(long, 'succeeded'))['concurrency_key']).toBe('k'.repeat(200))
  const secret = await bench.add('by-secret', { token: { secret: 'TOKEN' } })
  const fact = await bench.reached(secret, 'succeeded')
  expect(fact['concurrency_key']).toMatch(/^token /)
  expect(JSON.stringify(fact)).not.toContain('hush')
})

test.each([
  ['throws', { name: 'TypeError', message: 'no tenant in this payload' }],
  [
    'no-text',
    { code: 'CONCURRENCY_KEY', message: expect.stringMatching(/no-text returned number/) },
  ],
  ['later', { code: 'CONCURRENCY_KEY', message: expect.stringMatching(/returned a promise/) }],
])(
  'a key function that %s fails the attempt, and the run keeps to its retry policy',
  async (job, error) => {
    await using bench = openBench(server.url)
    await bench.work({ JADWAL_JOBS })
    const fact = await bench.reached(await bench.add(job), 'dead')
    expect(fact).toMatchObject({ reason: 'failed', attempt: 2, error })
  },
)

test('a run that was let out and then can not be asked for its key gives its slot back', async () => {
  await using bench = openBench(server.url)
  const lot = 'key:throws:=acme'
  await bench.queue.pause()
  const id = await bench.add('throws')
  const slots = keys.slotsKey(bench.prefix, 'tests', lot)
  await bench.redis.hset(keys.bullKey(bench.prefix, 'tests', id), 'jslot', lot)
  await bench.redis.sadd(slots, id)
  await bench.redis.hset(keys.lotsKey(bench.prefix, 'tests'), lot, '1')
  await bench.queue.resume()
  await bench.work({ JADWAL_JOBS })
  await bench.reached(id, 'dead')
  expect(await bench.redis.exists(slots, keys.lotsKey(bench.prefix, 'tests'))).toBe(0)
})

test('runs of a job without a limit send Redis nothing that has to do with limits', async () => {
  await using bench = openBench(server.url)
  await bench.work({ JADWAL_JOBS })
  const RUNS = 40
  /** How often a command was called, in scripts too, while so many runs of a job were made. */
  const callsOf = async (job: string) => {
    const ids: string[] = []
    await bench.queue.pause()
    while (ids.length < RUNS) ids.push(await bench.add(job, { key: `key ${ids.length}` }))
    await bench.redis.config('RESETSTAT')
    await bench.queue.resume()
    for (const id of ids) await bench.reached(id, 'succeeded')
    await eventually(async () => expect(await bench.queue.getJobCountByTypes('active')).toBe(0))
    const stats = await bench.redis.info('commandstats')
    return (command: string) =>
      Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
  }
  const plain = await callsOf('plain')
  const keyed = await callsOf('keyed')
  expect(plain('sismember') + plain('sadd')).toBeLessThan(RUNS)
  expect(keyed('sismember')).toBe(RUNS)
  expect(keyed('sadd')).toBeGreaterThanOrEqual(RUNS)
  // One script more for each run with a key: it takes the slot.
  expect(keyed('evalsha') - plain('evalsha')).toBeGreaterThan(RUNS / 2)
  expect(plain('hget')).toBeLessThan(keyed('hget') - RUNS)
})
