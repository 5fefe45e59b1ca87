import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually, type ServiceProcess } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { expectOrder } from '../support/expect-order.ts'
import { LEASE_MS, nextSecond, setupSchedulers } from '../support/schedulers.ts'

type Schedulers = Awaited<ReturnType<typeof setupSchedulers>>

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

/** Takes the lease away from whoever has it, and waits for the next term. */
async function endTerm({ redis, prefix }: Schedulers): Promise<void> {
  const key = `{${prefix}:scheduler}`
  const before = await redis.hget(`${key}:leader`, 'term')
  await redis.del(`${key}:lease`)
  await eventually(async () => expect(await redis.hget(`${key}:leader`, 'term')).not.toBe(before), {
    timeoutMs: 30_000,
    everyMs: 5,
  })
}

test('three leaders forced at once do no harm', async () => {
  const system = await setupSchedulers({ schedules: 500 })
  const { start, leader, redis, prefix } = system
  await Promise.all([start().ready, start().ready, start().ready])
  const lease = `{${prefix}:scheduler}:lease`
  const untilMs = Date.now() + 10_000
  for (let round = 0; Date.now() < untilMs; round += 1) {
    // Each holder goes on trusting what it had, while the next one takes the lease.
    if (round % 2 === 0) await redis.del(lease)
    else await redis.set(lease, 'somebody', 'PX', 50)
    await delay(60)
    if (round % 40 !== 0) continue
    // One that is frozen in the middle of it goes on when there have been two terms since.
    const frozen = await leader()
    frozen.pause()
    for (let term = 0; term < 2; term += 1) await endTerm(system)
    frozen.resume()
  }
  await expectOrder(system, { trustMs: LEASE_MS })
})
