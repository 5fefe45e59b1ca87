import { openDatabase } from '@jadwal/db'
import { keys } from '@jadwal/queue'
import { expect, inject, onTestFinished, test } from 'vitest'
import { setupAlerts } from './setup-alerts.ts'
import { factOf } from './setup-history.ts'
import { startTcpProxy } from './tcp-proxy.ts'

const LEADER = { kind: 'no-leader', for: '0s', repeatEvery: '10m' }
const DIED = { reason: 'failed' as const, error: { name: 'Error', message: 'no answer' } }

/** A way of an evaluator's own to a database, that can be cut. */
async function wayTo(name: string) {
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${name}`
  const proxy = await startTcpProxy(url.href)
  const db = openDatabase({ url: proxy.wayTo(url.href), schema: 'jadwal', max: 2 })
  onTestFinished(async () => {
    await proxy[Symbol.asyncDispose]()
    await db.destroy()
  })
  return { proxy, db }
}

test('while Postgres is away alerts of Redis open and are sent, those of the history stay, and it is all told afterwards', async () => {
  await using t = await setupAlerts({ kind: 'dead-letter', repeatEvery: '10m' })
  await t.setRule(LEADER, 'leader')
  await t.redis.set(keys.leaseKey(t.prefix), 'token')
  const { proxy, db } = await wayTo(t.databaseName)
  const evaluator = t.evaluator({ db })
  await t.record(factOf('dead', { ...DIED, fingerprint: 'aaaaaaaaaaaaaaaa' }))
  await t.after(0, evaluator)
  await t.after(10, evaluator)
  const told = async () => (await t.sent()).map(({ rule, event }) => `${rule} ${event}`)
  expect(await told()).toEqual(['r opened'])

  proxy.cut()
  await t.redis.del(keys.leaseKey(t.prefix))
  await t.after(10, evaluator)
  await t.after(10, evaluator)
  expect(await told()).toEqual(['r opened', 'leader opened'])
  const kept = await t.db.selectFrom('alert_states').select('rule').execute()
  expect(kept).toEqual([{ rule: 'r' }])

  proxy.resume()
  await t.after(10, evaluator)
  expect(await told()).toEqual(['r opened', 'leader opened'])
  const states = await t.db.selectFrom('alert_states').select('rule').orderBy('rule').execute()
  expect(states).toEqual([{ rule: 'leader' }, { rule: 'r' }])
})

test('when all apis are killed and start again at once, an open alert makes no second message', async () => {
  await using t = await setupAlerts(LEADER)
  await t.after(0)
  await t.after(10)
  expect(await t.events()).toEqual(['opened'])

  // What was killed gives no lease back: it runs out.
  await t.redis.del(keys.alertsLeaseKey(t.prefix))
  const started = [t.evaluator(), t.evaluator(), t.evaluator()]
  const allLook = async (): Promise<void> => {
    await Promise.all(started.map(async (each) => await each.look()))
    await Promise.all(started.map(async (each) => await each.round()))
  }
  await allLook()
  t.time.ms += 20_000
  await allLook()
  expect(await t.events()).toEqual(['opened'])

  await t.redis.set(keys.leaseKey(t.prefix), 'token')
  for (let at = 0; at < 2; at++) await allLook()
  expect(await t.events()).toEqual(['opened', 'resolved'])
})
