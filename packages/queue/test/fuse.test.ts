import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fuseText } from '../src/fuse-script.ts'
import { FUSE, JOB, openFuseBench, QUEUE } from './setup-fuse.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

test('a fuse opens with the attempt by which enough have ended and the failed ones are its rate of them', async () => {
  await using bench = openFuseBench(server.url)
  const { scripts, text } = bench
  expect(await scripts.count(text, { good: 1, bad: 2 })).toEqual({ state: 'closed', changes: [] })
  const word = await scripts.count(text, { good: 1, bad: 0 })
  expect(word).toMatchObject({
    state: 'open',
    changes: [{ type: 'opened', queue: QUEUE, job: JOB, failed: 2, ended: 4 }],
  })
  const [opened] = word.changes
  expect(opened?.type === 'opened' && opened.openUntil - opened.at).toBe(FUSE.openMs)
})

test('a fuse opens exactly when a plain count of what has ended says so', async () => {
  await using bench = openFuseBench(server.url)
  const batch = fc.record({ good: fc.nat({ max: 3 }), bad: fc.nat({ max: 3 }) })
  const cases = fc.record({
    failureRate: fc.constantFrom(0.1, 0.34, 0.5, 0.75, 1),
    minAttempts: fc.integer({ min: 1, max: 12 }),
    batches: fc.array(batch, { minLength: 1, maxLength: 12 }),
  })
  let cased = 0
  await fc.assert(
    fc.asyncProperty(cases, async ({ batches, ...rule }) => {
      cased += 1
      const text = fuseText({ name: `job-${cased}`, queue: QUEUE, fuse: { ...FUSE, ...rule } })
      const total = { good: 0, bad: 0 }
      for (const { good, bad } of batches) {
        total.good += good
        total.bad += bad
        const ended = total.good + total.bad
        const opens = ended >= rule.minAttempts && total.bad >= rule.failureRate * ended
        const { state } = await bench.scripts.count(text, { good, bad })
        expect(state).toBe(opens ? 'open' : 'closed')
        if (opens) return
      }
    }),
    { numRuns: 60 },
  )
})

test('what ended before the window counts no longer', async () => {
  await using bench = openFuseBench(server.url)
  const { scripts, text, redis, windowKey } = bench
  await scripts.count(text, { good: 0, bad: 1 })
  const [part = ''] = await redis.hkeys(windowKey)
  const before = Number(part.split(':')[0]) - FUSE.windowMs
  await redis.hset(windowKey, `${before}:bad`, 100)
  expect(await scripts.count(text, { good: 0, bad: 2 })).toMatchObject({ state: 'closed' })
  expect(await redis.hexists(windowKey, `${before}:bad`)).toBe(0)
  expect(await scripts.count(text, { good: 0, bad: 1 })).toMatchObject({ state: 'open' })
})

test('the counts of a job that rests for a window are gone', async () => {
  await using bench = openFuseBench(server.url, { windowMs: 1_000 })
  const { scripts, text, redis, windowKey } = bench
  await scripts.count(text, { good: 0, bad: 3 })
  await eventually(async () => expect(await redis.exists(windowKey)).toBe(0), { timeoutMs: 20_000 })
  expect(await scripts.count(text, { good: 0, bad: 3 })).toMatchObject({ state: 'closed' })
})

test('while a fuse is open its runs are parked, use up no attempt, and what still ends counts for nothing', async () => {
  await using bench = openFuseBench(server.url)
  const { scripts, text, redis } = bench
  await bench.open()
  const [id = ''] = await bench.add(1)
  const run = await bench.take()
  expect(run).toMatchObject({ id })
  const asked = run && (await scripts.admit(text, run))
  expect(asked).toMatchObject({ admission: 'in-lot', state: 'open' })
  expect(await bench.parked()).toEqual([id])
  expect(await redis.hget(bench.messageKey(id), 'ats')).toBe('0')
  expect(await bench.take()).toBeUndefined()
  expect(await scripts.count(text, { good: 50, bad: 50 })).toEqual({ state: 'open', changes: [] })
  // Asked again, since the answer was lost on its way.
  expect(run && (await scripts.admit(text, run))).toMatchObject({ admission: 'in-lot' })
  expect(await bench.parked()).toEqual([id])
})

test('a run that another worker has by now is not parked', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  const [id = ''] = await bench.add(1)
  await bench.take()
  const asked = await bench.scripts.admit(bench.text, { id, token: 'of another attempt' })
  expect(asked).toMatchObject({ admission: 'lost' })
  expect(await bench.parked()).toEqual([])
})

test('a call that comes again after its run left the lot gives nobody leave to make it', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  const [id = ''] = await bench.add(1)
  const [first = { id, token: '' }] = await bench.takeSome(1)
  const again = () => bench.scripts.admit(bench.text, first)
  expect(await again()).toMatchObject({ admission: 'in-lot' })
  await bench.pass()
  await bench.look()
  expect(await again()).toMatchObject({ admission: 'lost', state: 'probing' })
  const [probe = first] = await bench.takeAll()
  expect(probe.id).toBe(id)
  expect(await again()).toMatchObject({ admission: 'lost' })
  // Nor did the question take the probe's place from who has it.
  expect(await bench.redis.hgetall(bench.probesKey)).toEqual({ [id]: probe.token })
  await bench.scripts.count(bench.text, { good: 0, bad: 0, probes: [{ ...probe, sign: 'good' }] })
  expect(await bench.state()).toBe('closed')
  expect(await again()).toMatchObject({ admission: 'lost', state: 'closed' })
})

test('when its time is over the run that was parked first is the only one let through', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  const [first = '', ...rest] = await bench.park(3)
  await bench.look()
  expect(await bench.waiting()).toEqual([])
  await bench.pass()
  await Promise.all([bench.look(), bench.others.look([bench.text])])
  expect(await bench.waiting()).toEqual([first])
  const [later = ''] = await bench.add(1)
  expect(await bench.takeAll()).toMatchObject([{ id: first }])
  expect(await bench.parked()).toEqual([...rest, later])
})

test('without a parked run the next one that comes is the probe, whichever worker takes it', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  await bench.pass()
  await bench.add(6)
  const runs = await bench.takeSome(6)
  const asked = await Promise.all(
    runs.map((run, i) => (i % 2 ? bench.scripts : bench.others).admit(bench.text, run)),
  )
  expect(asked.filter((answer) => answer.admission === 'go')).toHaveLength(1)
  expect(await bench.parked()).toHaveLength(5)
})

test('a look ends the time that a fuse is open also when nothing is parked', async () => {
  await using bench = openFuseBench(server.url, { openMs: 100 })
  await bench.open()
  await eventually(async () => {
    await bench.look()
    expect(await bench.state()).toBe('probing')
  })
})

test('a probe that succeeds lets ten runs out, then a hundred, then all', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  const ids = await bench.park(130)
  await bench.pass()
  await bench.look()
  const through: string[] = []
  for (const quota of [1, 10, 100]) {
    const probes = await bench.takeAll()
    expect(probes).toHaveLength(quota)
    through.push(...probes.map(({ id }) => id))
    expect(await bench.state()).toBe('probing')
    for (const probe of probes) await bench.end(probe, 'good')
  }
  expect(await bench.state()).toBe('closed')
  expect(await bench.parked()).toEqual([])
  expect([...through, ...(await bench.waiting())]).toEqual(ids)
})

test('a fuse that has nothing parked closes with the first good probe', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  await bench.add(1)
  await bench.pass()
  const [probe] = await bench.takeAll()
  const word = probe && (await bench.end(probe, 'good'))
  expect(word).toMatchObject({ state: 'closed', changes: [{ type: 'closed', parked: 0 }] })
  // It begins anew.
  expect(await bench.scripts.count(bench.text, { good: 0, bad: 3 })).toMatchObject({
    state: 'closed',
  })
})

test('what a clock wrote that was ahead, and was put back, holds up no fuse', async () => {
  await using bench = openFuseBench(server.url)
  const { scripts, text, redis, fuseKey, probesKey, windowKey } = bench
  const tomorrow = Date.now() + 86_400_000
  await redis.hset(windowKey, `${tomorrow}:bad`, 100)
  expect(await scripts.count(text, { good: 0, bad: 1 })).toMatchObject({ state: 'closed' })
  await bench.open()
  const [first, second] = await bench.park(2)
  await redis.hset(fuseKey, 'until', tomorrow)
  await bench.look()
  expect(await bench.state()).toBe('probing')
  expect(await bench.waiting()).toEqual([first])
  await redis.hset(probesKey, String(first), `@${tomorrow}`)
  await bench.look()
  expect(await bench.waiting()).toEqual([second, first])
})

test('each probe that fails opens the fuse for twice as long, and ten times as long at most', async () => {
  await using bench = openFuseBench(server.url, { openMs: 100 })
  await bench.open()
  const lengths: number[] = []
  const times: number[] = []
  for (let round = 0; round < 6; round += 1) {
    await bench.add(1)
    await bench.pass()
    const [probe] = await bench.takeAll()
    const [change] = probe ? (await bench.end(probe, 'bad')).changes : []
    if (change?.type !== 'reopened') throw new Error(`not opened again: ${JSON.stringify(change)}`)
    lengths.push(change.openUntil - change.at)
    times.push(change.times)
  }
  expect(lengths).toEqual([200, 400, 800, 1_000, 1_000, 1_000])
  expect(times).toEqual([2, 3, 4, 5, 6, 7])
})

test('a step that reaches the failure rate opens the fuse again, and the next probe is one run', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  await bench.park(30)
  await bench.pass()
  await bench.look()
  const [probe] = await bench.takeAll()
  if (probe) await bench.end(probe, 'good')
  const step = await bench.takeAll()
  for (const run of step.slice(0, 5)) await bench.end(run, 'good')
  for (const run of step.slice(5, 9)) await bench.end(run, 'bad')
  expect(await bench.state()).toBe('probing')
  const last = step.at(-1)
  expect(last && (await bench.end(last, 'bad'))).toMatchObject({
    state: 'open',
    changes: [{ type: 'reopened', failed: 5, ended: 10 }],
  })
  await bench.pass()
  await bench.look()
  expect(await bench.waiting()).toHaveLength(1)
})
