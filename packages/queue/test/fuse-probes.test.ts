import { startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openFuseBench } from './setup-fuse.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

type Bench = ReturnType<typeof openFuseBench>

/** A fuse whose time is over, with three runs parked of which the first was let out as the probe. */
async function probing(bench: Bench): Promise<string[]> {
  await bench.open()
  const ids = await bench.park(3)
  await bench.pass()
  await bench.look()
  return ids
}

test('a probe whose worker dies gives its place to the next', async () => {
  await using bench = openFuseBench(server.url)
  const [first = '', second] = await probing(bench)
  expect(await bench.takeAll()).toMatchObject([{ id: first }])
  await bench.look()
  expect(await bench.waiting()).toEqual([])
  // As when its lock expires.
  await bench.redis.del(`${bench.messageKey(first)}:lock`)
  await bench.look()
  expect(await bench.waiting()).toEqual([second])
})

test('the late word of a probe whose place was given away decides nothing', async () => {
  await using bench = openFuseBench(server.url)
  const [first = '', second = ''] = await probing(bench)
  const [lost] = await bench.takeAll()
  await bench.redis.del(`${bench.messageKey(first)}:lock`)
  await bench.look()
  expect(await bench.takeAll()).toMatchObject([{ id: second }])
  if (lost) await bench.end(lost, 'bad')
  expect(await bench.state()).toBe('probing')
  expect(Object.keys(await bench.redis.hgetall(bench.probesKey))).toEqual([second])
})

test('the late word of an attempt decides nothing for the attempt that took up its run', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  const [id = ''] = await bench.park(1)
  await bench.pass()
  await bench.look()
  const [lost] = await bench.takeAll()
  await bench.redis.set(`${bench.messageKey(id)}:lock`, 'rescuer')
  await bench.look()
  const rescuer = { id, token: 'rescuer' }
  expect(await bench.scripts.admit(bench.text, rescuer)).toMatchObject({ admission: 'go' })
  const late = lost && { good: 0, bad: 0, probes: [{ ...lost, sign: 'bad' as const }] }
  expect(late && (await bench.scripts.count(bench.text, late))).toMatchObject({ state: 'probing' })
  expect(await bench.end(rescuer, 'good')).toMatchObject({ state: 'closed' })
})

test('a probe that was cut short, or failed by a fault of its own, gives its place to the next', async () => {
  await using bench = openFuseBench(server.url)
  const [, second] = await probing(bench)
  const [probe] = await bench.takeAll()
  expect(probe && (await bench.end(probe))).toMatchObject({ state: 'probing', changes: [] })
  expect(await bench.waiting()).toEqual([second])
})

test('a probe that is parked elsewhere gives its place to the next', async () => {
  await using bench = openFuseBench(server.url)
  const [first = '', second] = await probing(bench)
  await bench.takeAll()
  // What parking does: the message goes from the active ones, and its lock with it.
  await bench.remove(first)
  await bench.look()
  expect(await bench.waiting()).toEqual([second])
})

test('a run that was let out and cancelled before a worker took it gives its place to the next', async () => {
  await using bench = openFuseBench(server.url)
  const [first = '', second] = await probing(bench)
  await bench.queue.remove(first)
  await bench.look()
  expect(await bench.waiting()).toEqual([second])
})

test('a run that was let out and that no worker takes for long does not keep its place', async () => {
  await using bench = openFuseBench(server.url)
  const [first = '', second = ''] = await probing(bench)
  await bench.look()
  expect(await bench.waiting()).toEqual([first])
  await bench.redis.hset(bench.probesKey, first, '@1')
  await bench.look()
  expect(await bench.waiting()).toEqual([second, first])
  // Both are taken; one place is left.
  expect(await bench.takeAll()).toHaveLength(1)
})

test('parked runs that were cancelled are passed over when their turn comes', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  const ids = await bench.park(3)
  for (const id of ids.slice(0, 2)) await bench.queue.remove(id)
  await bench.pass()
  await bench.look()
  expect(await bench.waiting()).toEqual(ids.slice(2))
})

test('no run stays parked when the fuse closes while others come in', async () => {
  await using bench = openFuseBench(server.url)
  for (let round = 0; round < 15; round += 1) {
    await bench.open()
    await bench.pass()
    await bench.add(1)
    const [probe] = await bench.takeAll()
    await bench.add(8)
    const runs = await bench.takeSome(8)
    const asked = runs.map((run, i) =>
      (i % 2 ? bench.scripts : bench.others).admit(bench.text, run),
    )
    const ends = probe && { good: 0, bad: 0, probes: [{ ...probe, sign: 'good' as const }] }
    const closing = ends && bench.others.count(bench.text, ends)
    const admissions = (await Promise.all(asked)).map((answer) => answer.admission)
    await closing
    if (probe) await bench.remove(probe.id)
    const through = runs.filter((_, i) => admissions[i] === 'go')
    for (const run of through) await bench.end(run, 'good')
    for (const run of await bench.takeAll()) await bench.end(run, 'good')
    expect(await bench.state()).toBe('closed')
    expect(await bench.parked()).toEqual([])
    expect(await bench.waiting()).toEqual([])
  }
})

test('a lot that is too long for one go is let out look by look, as long as the fuse stays closed', async () => {
  await using bench = openFuseBench(server.url)
  await bench.open()
  await bench.park(620)
  // As after a step that closed it.
  await bench.redis.del(bench.fuseKey)
  await bench.look()
  expect(await bench.parked()).toHaveLength(120)
  await bench.open()
  await bench.look()
  expect(await bench.parked()).toHaveLength(120)
  await bench.redis.del(bench.fuseKey)
  const { fuses } = await bench.look()
  expect(await bench.parked()).toHaveLength(0)
  expect(fuses).toEqual([{ state: 'closed', waitMs: 1_000 }])
})
