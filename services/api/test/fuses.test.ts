import { type Fuse, systemClock } from '@jadwal/domain'
import { keys, publishCatalogue } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupHistory as setup } from './setup-history.ts'

const FUSE: Fuse = { failureRate: 0.5, minAttempts: 20, windowMs: 60_000, openMs: 30_000 }
const CALL = { ...EMAIL_JOB, name: 'partner.call', fuse: FUSE }

test('jobs that have a fuse are listed with how it stands and how many runs are parked', async () => {
  await using t = await setup()
  const { redis, prefix } = t.api
  await publishCatalogue(redis, prefix, [CALL])
  const fuseOf = async () => (await t.api.ask('/api/v1/jobs')).body.items[1].fuse
  expect((await t.api.ask('/api/v1/jobs')).body.items[0]).not.toHaveProperty('fuse')
  expect(await fuseOf()).toEqual({ ...FUSE, state: 'closed', parked: 0 })

  const until = systemClock.now().getTime() + 60_000
  const fuseKey = keys.fuseKey(prefix, CALL.queue, CALL.name)
  await redis.hset(fuseKey, { state: 'open', until })
  await redis.rpush(keys.parkedKey(prefix, CALL.queue, keys.fuseLot(CALL.name)), 'a', 'b')
  const openUntil = new Date(until).toISOString()
  expect(await fuseOf()).toEqual({ ...FUSE, state: 'open', openUntil, parked: 2 })

  await redis.hset(fuseKey, { state: 'probing' })
  expect(await fuseOf()).toEqual({ ...FUSE, state: 'probing', parked: 2 })
})
