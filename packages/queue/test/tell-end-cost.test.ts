import { keys } from '@jadwal/queue'
import { startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FOLLOWED_MS } from '../src/follow-lua.ts'
import { type Outcome, outcomeScript } from '../src/outcome-script.ts'
import { openBench } from './run-bench.ts'

const QUEUE = 'emails'
const RUNS = 40

// Of its own: what every client of a server calls is counted together.
let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

type Bench = ReturnType<typeof openBench>

/** The calls of each command while the ends of so many runs in hand are written as one batch. */
async function callsOfBatch({ redis, prefix }: Bench, ids: readonly string[]) {
  const write = outcomeScript(redis, prefix, QUEUE)
  const outcomes = ids.map((id): Outcome => ({
    id,
    token: 'mine',
    stored: '1:succeeded',
    facts: `{"id":"${id}","state":"succeeded"}`,
  }))
  for (const id of ids) await redis.set(`${keys.bullKey(prefix, QUEUE, id)}:lock`, 'mine')
  await redis.config('RESETSTAT')
  expect(await write(outcomes)).toEqual(new Set())
  const stats = await redis.info('commandstats')
  const counts = stats.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)
  return Object.fromEntries(Array.from(counts, ([, name, calls]) => [name, Number(calls)]))
}

const idsOf = (name: string): string[] => Array.from({ length: RUNS }, (_, n) => `${name}-${n}`)

test('while nobody follows a run, telling ends costs one EXISTS for all that are written together', async () => {
  await using bench = openBench(server.url)
  await callsOfBatch(bench, idsOf('first'))
  const calls = await callsOfBatch(bench, idsOf('unfollowed'))
  expect(calls).toMatchObject({ exists: 1, get: RUNS, hset: RUNS, xadd: 1 })
  for (const telling of ['zrem', 'zscore', 'set', 'publish'])
    expect(calls).not.toHaveProperty(telling)
})

test('what one run that is followed costs is paid for it alone, but for a look at each', async () => {
  await using bench = openBench(server.url)
  const ids = idsOf('followed')
  const [followed = ''] = ids
  const until = Date.now() + FOLLOWED_MS
  await bench.redis.zadd(keys.followedKey(bench.prefix, QUEUE), until, followed)
  const calls = await callsOfBatch(bench, ids)
  expect(calls).toMatchObject({ exists: 1, set: 1, publish: 1 })
  expect(await bench.redis.exists(keys.endedKey(bench.prefix, QUEUE, followed))).toBe(1)
})
