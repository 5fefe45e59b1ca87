import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually, type ServiceProcess } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { checkTicks } from '../ledger/check-ticks.ts'
import { LEASE_MS, nextSecond, setupSchedulers } from '../support/schedulers.ts'

type Schedulers = Awaited<ReturnType<typeof setupSchedulers>>

async function expectOrder({ expected, consumer }: Schedulers): Promise<void> {
  const until = Math.floor(Date.now() / 1_000) * 1_000
  await eventually(
    () => {
      const report = checkTicks(expected(until), consumer.sightings)
      expect(report).toMatchObject({ missing: [], doubled: [], early: [], unexpected: [] })
    },
    { timeoutMs: 30_000, everyMs: 500 },
  )
}

/** Freezes the scheduler as soon as Redis sees it read the last ticks: between its WATCH and its EXEC. */
async function freezeAfterRead(
  { redisUrl, prefix }: Schedulers,
  scheduler: ServiceProcess,
): Promise<void> {
  const { hostname, port } = new URL(redisUrl)
  const socket = connect(Number(port), hostname)
  socket.write('MONITOR\r\n')
  for await (const line of createInterface({ input: socket })) {
    // `+<time> [<db> <address>] "hmget" "<key>" "term" "<schedule>" …`, with very many schedules.
    if (!line.includes(`"hmget" "{${prefix}:noted}:last-ticks"`) || line.length < 10_000) continue
    scheduler.pause()
    break
  }
  socket.destroy()
}

test('a leader frozen between read and EXEC for longer than its lease does no harm when it goes on', async () => {
  const system = await setupSchedulers({ schedules: 1_000 })
  await Promise.all([system.start().ready, system.start().ready])
  for (let round = 0; round < 4; round += 1) {
    const frozen = await system.leader()
    await freezeAfterRead(system, frozen)
    await system.leader(frozen)
    await delay(LEASE_MS)
    frozen.resume()
    await nextSecond()
  }
  await expectOrder(system)
})

test('a leader frozen at any moment does no harm either', async () => {
  const system = await setupSchedulers({ schedules: 500 })
  await Promise.all([system.start().ready, system.start().ready])
  for (let round = 0; round < 4; round += 1) {
    const frozen = await system.leader()
    await nextSecond(round * 7)
    frozen.pause()
    await system.leader(frozen)
    frozen.resume()
    await nextSecond()
  }
  await expectOrder(system)
})

test('three leaders forced at once do no harm', async () => {
  const system = await setupSchedulers({ schedules: 500 })
  await Promise.all([system.start().ready, system.start().ready, system.start().ready])
  await system.leader()
  const until = Date.now() + 10_000
  while (Date.now() < until) {
    // Each holder goes on trusting what it had, while the next one takes the lease.
    await system.redis.del(`{${system.prefix}:scheduler}:lease`)
    await delay(60)
  }
  await expectOrder(system)
})
