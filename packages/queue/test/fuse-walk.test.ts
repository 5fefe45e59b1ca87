import { startTestRedis, type TestRedis } from '@jadwal/testkit'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type InHand, openFuseBench } from './setup-fuse.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const QUOTAS = [1, 10, 100]

const STEPS = [
  'add',
  'take',
  'good',
  'bad',
  'cut short',
  'kill',
  'late word',
  'look',
  'pass',
] as const
type Step = (typeof STEPS)[number]

/** Runs in hand that were let through, and how many places they take while the fuse probes. */
function openWalk(url: string) {
  const bench = openFuseBench(url)
  const through: InHand[] = []
  const dead: InHand[] = []
  let living = 0
  const end = async (sign?: 'good' | 'bad'): Promise<void> => {
    const run = through.shift()
    if (!run) return
    await bench.end(run, sign)
    living -= 1
  }
  const acts: Record<Step, () => Promise<unknown>> = {
    async add() {
      await bench.add(2)
      living += 2
    },
    async take() {
      const run = await bench.take()
      if (run && (await bench.scripts.admit(bench.text, run)).admission === 'go') through.push(run)
    },
    good: () => end('good'),
    bad: () => end('bad'),
    'cut short': () => end(),
    async kill() {
      const run = through.shift()
      if (!run) return
      dead.push(run)
      await bench.remove(run.id)
      living -= 1
    },
    async 'late word'() {
      const run = dead.shift()
      if (run) await bench.end(run, 'bad')
    },
    look: () => bench.look(),
    async pass() {
      if ((await bench.state()) === 'open') await bench.pass()
    },
  }
  return {
    bench,
    through,
    acts,
    get living() {
      return living
    },
  }
}

test('whatever happens, no more runs are let through than a step allows, none is lost, and it closes in the end', async () => {
  const walks = fc.array(fc.constantFrom(...STEPS), { minLength: 10, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(walks, async (steps) => {
      const walk = openWalk(server.url)
      const { bench, through, acts } = walk
      await using _open = bench
      await bench.open()
      for (const step of steps) {
        await acts[step]()
        const { state, step: at, good, bad } = await bench.redis.hgetall(bench.fuseKey)
        const probes = await bench.redis.hlen(bench.probesKey)
        const quota = state === 'probing' ? (QUOTAS[Number(at) - 1] ?? 0) : 0
        const used = state === 'probing' ? probes + Number(good) + Number(bad) : probes
        expect(used).toBeLessThanOrEqual(quota)
        const there =
          through.length + (await bench.waiting()).length + (await bench.parked()).length
        expect(there).toBe(walk.living)
      }
      // The partner is back.
      for (let round = 0; round < 20 && (round === 0 || walk.living > 0); round += 1) {
        await acts.pass()
        await bench.look()
        through.push(...(await bench.takeAll()))
        while (through.length > 0) await acts.good()
      }
      expect(walk.living).toBe(0)
      // With nothing parked, one good run closes it.
      if ((await bench.state()) !== 'closed') {
        await acts.pass()
        await acts.add()
        while (walk.living > 0) {
          await acts.take()
          await acts.good()
        }
      }
      expect(await bench.state()).toBe('closed')
      expect(await bench.parked()).toEqual([])
    }),
    { numRuns: 25 },
  )
}, 60_000)
