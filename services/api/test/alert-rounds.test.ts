import { once } from 'node:events'
import { keys } from '@jadwal/queue'
import { eventually, FakeClock } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { setupAlerts } from './setup-alerts.ts'
import { factOf } from './setup-history.ts'
import { slowHistory } from './setup-slow-history.ts'

const LETTERS = { kind: 'dead-letter', repeatEvery: '10m' }
const LEADER = { kind: 'no-leader', for: '0s', repeatEvery: '10m' }
const CAUSE = { error: { name: 'Error', message: 'no answer' }, fingerprint: 'aaaaaaaaaaaaaaaa' }
const died = (about: object = {}) => factOf('dead', { reason: 'failed', ...CAUSE, ...about })
/** Long enough that it is renewed in time on a busy machine. */
const LEASE_MS = 4_000
const sleep = async (ms: number): Promise<void> =>
  await new Promise((resolve) => void setTimeout(resolve, ms))

test('a round that takes longer than the lease is ended by who began it', async () => {
  await using t = await setupAlerts(LETTERS)
  await t.record(died())
  let asked = 0
  const history = new AbortController()
  const { signal: answers } = history
  const db = slowHistory(t.db, async () => {
    asked += 1
    if (!answers.aborted) await once(answers, 'abort')
  })
  const slow = t.evaluator({ db, leaseMs: LEASE_MS, gatherMs: 0 })
  const standby = t.evaluator({ gatherMs: 0 })
  const round = slow.look()
  await eventually(() => expect(asked).toBeGreaterThan(0))
  await sleep(1.5 * LEASE_MS)
  await standby.look()
  expect(await t.sent()).toEqual([])
  history.abort()
  await round
  expect(await t.events()).toEqual(['opened'])
})

test('what Redis knows is told of while the history has not answered', async () => {
  await using t = await setupAlerts(LETTERS)
  await t.setRule(LEADER, 'leader')
  await t.record(died())
  const history = new AbortController()
  const { signal: answers } = history
  const db = slowHistory(
    t.db,
    async ({ isOfRule }) => isOfRule && !answers.aborted && (await once(answers, 'abort')),
  )
  const round = t.evaluator({ db, gatherMs: 0 }).look()
  const rules = async () => (await t.sent()).map(({ rule }) => rule)
  await eventually(async () => expect(await rules()).toEqual(['leader']))
  history.abort()
  await round
  expect(await rules()).toEqual(['leader', 'r'])
})

test('rules for which a round has no time come first in the next', async () => {
  const names = ['a', 'b', 'c', 'd']
  await using t = await setupAlerts({ ...LEADER, enabled: false })
  for (const job of names) {
    await t.setRule({ ...LETTERS, matchers: { job } }, job)
    await t.record(died({ job }))
  }
  const clock = new FakeClock()
  const db = slowHistory(t.db, async ({ isOfRule }) => isOfRule && clock.advance(6_000))
  const slow = t.evaluator({ db, clock, gatherMs: 0 })
  const rules = async () => (await t.sent()).map(({ rule }) => rule).toSorted()
  await slow.look()
  expect(await rules()).toEqual(['a', 'b'])
  await slow.round()
  expect(await rules()).toEqual(names)
})

test('a rule that the history never answers in time keeps no other from being judged', async () => {
  await using t = await setupAlerts({ ...LETTERS, matchers: { job: 'large' } })
  await t.setRule({ ...LETTERS, matchers: { job: 'small' } }, 'z')
  await t.record(died({ job: 'large' }), died({ job: 'small' }))
  const db = slowHistory(t.db, async ({ isOfRule, text }) => {
    if (isOfRule && text.includes('"large"')) throw new Error('Query read timeout')
  })
  const slow = t.evaluator({ db, gatherMs: 0 })
  await slow.look()
  await slow.round()
  expect((await t.sent()).map(({ rule }) => rule)).toEqual(['z'])
})

test('a time counts as looked at only when what was found in it is kept', async () => {
  await using t = await setupAlerts(LETTERS)
  await t.record(died())
  const seenUntil = async () =>
    (await t.db.selectFrom('alert_rules').select('seen_until').executeTakeFirstOrThrow()).seen_until
  // The lease goes to another while the history is asked.
  const db = slowHistory(
    t.db,
    async ({ isOfRule }) =>
      isOfRule && (await t.redis.set(keys.alertsLeaseKey(t.prefix), 'another')),
  )
  await t.evaluator({ db }).look()
  expect(await seenUntil()).toBeNull()
  await t.redis.del(keys.alertsLeaseKey(t.prefix))
  await t.after(0)
  expect(await seenUntil()).not.toBeNull()
})

test('an alert in Redis that can not be read is passed over', async () => {
  await using t = await setupAlerts(LEADER)
  await t.redis.hset(keys.alertStatesKey(t.prefix), { 'r\na': '{"id":', 'r\nb': '{}' })
  await t.after(0)
  await t.after(10)
  expect(await t.events()).toEqual(['opened'])
})

test('a channel whose run can not be enqueued keeps no other from its own, which is told once', async () => {
  await using t = await setupAlerts(LEADER)
  await t.setChannel({ kind: 'slack', url: 'http://127.0.0.1:9/', default: true }, 'broken')
  const asked: string[] = []
  const producer = {
    enqueue: async (
      _: unknown,
      { channel, message }: { channel: string; message: { event: string } },
    ) => {
      asked.push(`${channel} ${message.event}`)
      if (channel === 'broken') throw new Error('too large')
    },
  } as never
  const evaluator = t.evaluator({ producer, gatherMs: 0 })
  await t.after(0, evaluator)
  await t.after(3_600, evaluator)
  expect(asked.filter((each) => each.startsWith('ops'))).toEqual(['ops opened'])
  expect(asked.filter((each) => each === 'broken opened').length).toBeGreaterThan(1)
  // A day later nobody is told that it began: it goes on.
  await t.after(86_400, evaluator)
  await t.after(600, evaluator)
  expect(asked.filter((each) => each.startsWith('ops'))).toEqual(['ops opened', 'ops repeated'])
  expect(asked).toContain('broken repeated')
})
