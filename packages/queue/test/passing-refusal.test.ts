import { eventually, startTestRedis } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { mendFuses } from '../src/fuse-net.ts'
import { FuseWatch } from '../src/fuse-watch.ts'
import { keyLot, type StartedRun, takeSlot } from '../src/index.ts'
import { workOffWhenFull } from '../src/when-full.ts'
import { FUSE, JOB, openFuseBench, QUEUE } from './setup-fuse.ts'

/** A Redis of the test's own, with a connection that it speaks to it by. */
async function ownRedis() {
  const own = await startTestRedis({ appendonly: 'no' })
  const server = new Redis(own.url)
  onTestFinished(async () => {
    server.disconnect()
    await own[Symbol.asyncDispose]()
  })
  return { url: own.url, server }
}

test('at its maxmemory Redis opens fuses, parks, lets probes out and closes them', async () => {
  const { url, server } = await ownRedis()
  await using bench = openFuseBench(url, { openMs: 2_000 })
  const [, , third] = await bench.add(3)
  const [first = { id: '', token: '' }, second = first] = await bench.takeSome(2)
  workOffWhenFull(bench.redis)
  await server.config('SET', 'maxmemory', '1')
  await expect(server.set('more', 'x')).rejects.toThrow('OOM')

  expect(await bench.open()).toMatchObject({ state: 'open' })
  expect(await bench.scripts.admit(bench.text, first)).toMatchObject({ admission: 'in-lot' })
  await eventually(async () => {
    await bench.look()
    expect(await bench.waiting()).toEqual([first.id, third])
  })
  const [probe = first] = await bench.takeSome(1)
  expect(await bench.scripts.admit(bench.text, probe)).toMatchObject({ admission: 'go' })
  expect(await bench.scripts.admit(bench.text, second)).toMatchObject({ admission: 'in-lot' })

  const { redis, prefix } = bench
  const net = { redis, prefix, queue: QUEUE, jobs: [] }
  expect(await mendFuses(net, -1)).toMatchObject({ made: [{ type: 'closed', parked: 1 }] })
  expect(await bench.waiting()).toEqual([second.id, third])
})

test('a stop does not wait for a Redis that takes no writes: the run is to be put back', async () => {
  const { url, server } = await ownRedis()
  await using bench = openFuseBench(url)
  const [id = ''] = await bench.add(1)
  const [run = { id, token: '' }] = await bench.takeSome(1)
  await server.config('SET', 'min-replicas-to-write', '1')
  const stop = new AbortController()
  const errors: Error[] = []
  const onError = (error: Error): void => void errors.push(error)
  const deps = { redis: bench.redis, prefix: bench.prefix, onError, stop: stop.signal }
  const watch = new FuseWatch({
    ...deps,
    url,
    jobs: [{ name: JOB, queue: QUEUE, fuse: FUSE }],
    onChange: () => undefined,
    onState: () => undefined,
  })
  onTestFinished(() => watch.close())

  const started = { ...run, job: JOB, queue: QUEUE } as Partial<StartedRun> as StartedRun
  const asked = watch.admit(started)
  const slot = takeSlot({ ...deps, queue: QUEUE }, run, { lot: keyLot(JOB, 'acme'), limit: 1 })
  await eventually(() => expect(errors.length).toBeGreaterThan(3))
  for (const error of errors) expect(error.message).toMatch(/^NOREPLICAS/)
  stop.abort()
  expect(await Promise.all([asked, slot])).toEqual(['drained', 'drained'])
})
