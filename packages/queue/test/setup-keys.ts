import { keyLot, keys, LotTender, type RunEnd, type StartedRun, takeSlot } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, onTestFinished } from 'vitest'
import { openBench } from './run-bench.ts'

export const QUEUE = 'emails'
const SUCCEEDED: RunEnd = { kind: 'succeeded' }

const lot = (key: string): string => keyLot('email.send', key)

export function sorted(ids: readonly (string | undefined)[]): string[] {
  return ids.map(String).toSorted((a, b) => (a < b ? -1 : 1))
}

/** Workers whose runs take a slot of the key in their payload, and go on until the test ends them. */
export function setupKeys(url: string, options: { limit?: number } = {}) {
  const bench = openBench(url)
  const { prefix, redis } = bench
  const deps = { redis, prefix, queue: QUEUE, onError: (error: Error) => bench.errors.push(error) }
  const running = new Map<string, (end: RunEnd) => void>()
  let limit = options.limit ?? 2
  onTestFinished(async () => {
    running.set = (_id, end) => (end(SUCCEEDED), running)
    for (const end of running.values()) end(SUCCEEDED)
    await bench[Symbol.asyncDispose]()
  })
  const execute = async (run: StartedRun): Promise<RunEnd> => {
    run.mayHaveSlot = true
    const { key } = run.message.payload as { key: string }
    const taken = await takeSlot(deps, run, { lot: lot(key), limit })
    if (taken !== 'go') return { kind: taken }
    return await new Promise((resolve) => void running.set(run.id, resolve))
  }
  return {
    ...bench,
    deps,
    lot,
    running,
    setLimit: (next: number) => void (limit = next),
    work: (more: { concurrency?: number; lockMs?: number } = {}) =>
      bench.work(execute, { concurrency: 20, ...more }),
    add: (data: object) => bench.add(data),
    addOf: async (key: string, count: number): Promise<string[]> => {
      const ids: string[] = []
      while (ids.length < count) ids.push(await bench.add({ payload: { key } }))
      return ids
    },
    end: (id: string | undefined, end: RunEnd = SUCCEEDED): void => {
      running.get(id ?? '')?.(end)
      running.delete(id ?? '')
    },
    runs: (ids: readonly (string | undefined)[]) =>
      eventually(() => expect(sorted([...running.keys()])).toEqual(sorted(ids))),
    parkedIds: (key: string) => redis.lrange(keys.parkedKey(prefix, QUEUE, lot(key)), 0, -1),
    slots: async (key: string) =>
      sorted(await redis.smembers(keys.slotsKey(prefix, QUEUE, lot(key)))),
    tend: (of?: number | 'none') => async () => {
      await redis.del(keys.lotsTendedKey(prefix, QUEUE))
      const tender = new LotTender({ redis, prefix, queue: QUEUE, limitOf: () => of })
      return await tender.tend()
    },
    leftOvers: async () => {
      const all = await redis.keys(`{${prefix}:*`)
      return all.filter((key) => /:(parked:.*|slots:.*|lots)$/.test(key))
    },
  }
}
