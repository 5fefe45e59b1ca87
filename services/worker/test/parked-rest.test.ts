import { fileURLToPath } from 'node:url'
import { keyLot, keys } from '@jadwal/queue'
import { eventually, startTestRedis } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { openBench } from './worker-bench.ts'

const JADWAL_JOBS = fileURLToPath(new URL('fixtures/parked-jobs.mjs', import.meta.url))
const FEW = 5
const MANY = 50
const PATIENT = { timeoutMs: 30_000, everyMs: 100 }
const KEY_LOT = keyLot('keyed', 'filled')
const FUSE_LOT = keys.fuseLot('partner')

type Bench = ReturnType<typeof openBench>

/** Adds runs until so many are parked for a slot of the key, and as many for the fuse. */
async function parkUpTo(count: number, bench: Bench): Promise<void> {
  const parked = async (): Promise<number[]> =>
    await Promise.all(
      [KEY_LOT, FUSE_LOT].map((lot) =>
        bench.redis.llen(keys.parkedKey(bench.prefix, 'tests', lot)),
      ),
    )
  const [before = 0] = await parked()
  const more = Array.from({ length: count - before })
  await Promise.all(more.map(() => bench.add('keyed')))
  await Promise.all(more.map(() => bench.add('partner', { ends: 'well' })))
  await eventually(async () => expect(await parked()).toEqual([count, count]), PATIENT)
}

/** Resolves when the worker has told of itself again, as it does every few seconds. */
async function nextBeat({ redis, prefix }: Bench): Promise<void> {
  const told = async (): Promise<string> => (await redis.hvals(keys.workersKey(prefix))).join()
  const before = await told()
  await eventually(async () => expect(await told()).not.toBe(before), PATIENT)
}

/** How often scripts are called up to the next beat. */
async function scriptCalls(bench: Bench): Promise<number> {
  await bench.redis.config('RESETSTAT')
  await nextBeat(bench)
  const stats = await bench.redis.info('commandstats')
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}

test('runs that wait for a slot of their key or for an open fuse ask Redis for nothing meanwhile', async () => {
  await using server = await startTestRedis()
  await using bench = openBench(server.url)
  const { hurry } = await bench.work({ JADWAL_JOBS })
  try {
    await bench.add('keyed', { ms: 600_000 })
    const slots = keys.slotsKey(bench.prefix, 'tests', KEY_LOT)
    await eventually(async () => expect(await bench.redis.scard(slots)).toBe(1), PATIENT)
    for (let n = 0; n < 4; n += 1) await bench.add('partner', { ends: 'failed' })
    const fuse = keys.fuseKey(bench.prefix, 'tests', 'partner')
    await eventually(async () => {
      expect(await bench.redis.hget(fuse, 'state')).toBe('open')
    }, PATIENT)
    await parkUpTo(FEW, bench)
    await nextBeat(bench)
    const few = await scriptCalls(bench)
    await parkUpTo(MANY, bench)
    const many = await scriptCalls(bench)
    // The loops ask as often as before: no lot's further runs are asked for once each.
    expect(many - few, `${few} calls with few, ${many} with many`).toBeLessThan((MANY - FEW) / 2)
  } finally {
    hurry.abort()
  }
}, 150_000)
