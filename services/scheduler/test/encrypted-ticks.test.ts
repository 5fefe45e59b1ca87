import { randomBytes } from 'node:crypto'
import { MINUTE } from '@jadwal/domain'
import { cipherOf } from '@jadwal/queue'
import { redisText } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { minute, passAll, schedule, setup } from './firing-setup.ts'

const PIN = 'canary-7741-2093'

async function setupSecret() {
  const bench = await setup()
  const { book, serve, now } = bench
  await serve('secret', 'reports', { encrypt: true })
  const from = minute(now) - 2 * MINUTE
  const secret = schedule(now, [{ from, spec: { job: 'secret', payload: { pin: PIN } } }])
  book.put([secret, schedule(now, [{ from }])], now)
  const firedOf = async (job: string) => (await bench.facts()).filter((fact) => fact.job === job)
  return { ...bench, firedOf }
}

test('ticks of an encrypted job are owed while there is no key, without holding up others, and then fire encrypted', async () => {
  const { lead, firedOf, redis, prefix } = await setupSecret()
  await passAll(lead(1))
  expect(await firedOf('report')).toHaveLength(2)
  expect(await firedOf('secret')).toEqual([])
  expect(await redisText(redis, prefix)).not.toContain(PIN)

  const cipher = cipherOf([{ id: 'k1', secret: randomBytes(32) }])
  await passAll(lead(2, undefined, cipher))
  const payload = { $encrypted: expect.stringMatching(/^1\.k1\./) }
  const fired = { state: 'queued', payload }
  expect(await firedOf('secret')).toMatchObject([fired, fired])
  expect(await firedOf('report')).toHaveLength(2)
  expect(await redisText(redis, prefix)).not.toContain(PIN)
})

test('ticks that could not be planned fire as soon as they can, not when the next one is due', async () => {
  const { lead, firedOf, serve } = await setupSecret()
  const firing = lead(1)
  await passAll(firing)
  expect(await firedOf('secret')).toEqual([])
  await serve('secret', 'reports')
  await passAll(firing)
  expect(await firedOf('secret')).toHaveLength(2)
})
