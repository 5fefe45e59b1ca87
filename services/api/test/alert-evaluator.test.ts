import { applySchedules } from '@jadwal/db'
import { systemClock } from '@jadwal/domain'
import { keys } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { setupAlerts } from './setup-alerts.ts'
import { factOf } from './setup-history.ts'

const LETTERS = { kind: 'dead-letter', repeatEvery: '10m' }
const LEADER = { kind: 'no-leader', for: '0s', repeatEvery: '10m' }
const CAUSE = { error: { name: 'Error', message: 'no answer' }, fingerprint: 'aaaaaaaaaaaaaaaa' }
const died = (about: object = {}) => factOf('dead', { reason: 'failed', ...CAUSE, ...about })

test('dead letters of one cause are one message with their count, those of another one more', async () => {
  await using t = await setupAlerts(LETTERS)
  await t.record(...Array.from({ length: 50 }, () => died()), died({ job: 'other' }))
  await t.after(0)
  await t.record(died())
  await t.after(10)
  const sent = await t.sent()
  expect(sent.map(({ title, count }) => `${count}: ${title}`).toSorted()).toEqual([
    '1: 1 run of other died: Error: no answer',
    '51: 51 runs of email.send died: Error: no answer',
  ])
})

test('more of the same are told of after the pause, and only if there are any', async () => {
  await using t = await setupAlerts(LETTERS)
  await t.record(died())
  await t.after(0)
  await t.after(10)
  await t.after(600)
  expect(await t.events()).toEqual(['opened'])
  await t.record(died({ finished_at: t.iso(), attempt_finished_at: t.iso() }))
  await t.after(10)
  expect(await t.events()).toEqual(['opened', 'repeated'])
  await t.record(died({ finished_at: t.iso(), attempt_finished_at: t.iso() }))
  await t.after(60)
  expect(await t.events()).toEqual(['opened', 'repeated'])
})

test('what still stands is told of again after each pause', async () => {
  await using t = await setupAlerts(LEADER)
  for (const seconds of [0, 10, 590, 10, 600]) await t.after(seconds)
  expect(await t.events()).toEqual(['opened', 'repeated', 'repeated'])
})

test('many groups are twenty messages, and one of all others', async () => {
  await using t = await setupAlerts({ ...LETTERS, parameters: { groupBy: 'job' } })
  await t.record(...Array.from({ length: 60 }, (_, at) => died({ job: `job-${at}` })))
  await t.after(0)
  await t.after(10)
  const sent = await t.sent()
  expect(sent).toHaveLength(21)
  expect(sent.filter(({ title }) => title.startsWith('40 more of the same'))).toMatchObject([
    { count: 40 },
  ])
  await t.after(10)
  expect(await t.sent()).toHaveLength(21)
})

test('nothing is sent during a silence; what still holds at its end is, and so is an end that it hid', async () => {
  await using t = await setupAlerts(LEADER)
  await t.silence('move', { matchers: { rule: 'r' }, from: t.iso(), until: t.iso(100) })
  await t.after(0)
  await t.after(50)
  expect(await t.sent()).toEqual([])
  await t.after(50)
  expect(await t.events()).toEqual(['opened'])
  await t.silence('again', { from: t.iso(), until: t.iso(100) })
  await t.redis.set(keys.leaseKey(t.prefix), 'token')
  await t.after(50)
  expect(await t.events()).toEqual(['opened'])
  await t.after(50)
  expect(await t.events()).toEqual(['opened', 'resolved'])
})

test('a silence of something else keeps nothing back', async () => {
  await using t = await setupAlerts(LETTERS)
  await t.silence('other', { matchers: { job: 'other' }, from: t.iso(), until: t.iso(1_000) })
  await t.record(died())
  await t.after(0)
  await t.after(10)
  expect(await t.events()).toEqual(['opened'])
})

test('two apis make one message, and a take-over goes on where the other was', async () => {
  await using t = await setupAlerts(LEADER)
  const [one, other] = [t.evaluator({ leaseMs: 60_000 }), t.evaluator({ leaseMs: 60_000 })]
  await one.look()
  await other.look()
  t.time.ms += 10_000
  await one.look()
  await one.round()
  expect(await t.events()).toEqual(['opened'])
  await t.redis.del(keys.alertsLeaseKey(t.prefix))
  await t.after(1, other)
  await t.after(10, other)
  expect(await t.events()).toEqual(['opened'])
  await t.redis.set(keys.leaseKey(t.prefix), 'token')
  // The one that was replaced believes otherwise, and writes nothing.
  await one.round()
  await t.after(0, other)
  await t.after(0, other)
  expect((await t.events()).filter((event) => event === 'resolved')).toHaveLength(1)
})

test('a message that was cut short is sent by who takes over, once', async () => {
  await using t = await setupAlerts(LEADER)
  await t.setChannel({ kind: 'slack', url: 'http://127.0.0.1:9/2', default: true }, 'second')
  const broken = t.evaluator({
    producer: {
      enqueue: () => Promise.reject(new Error('killed')),
    } as never,
  })
  await t.after(0, broken)
  await t.after(10, broken)
  expect(await t.sent()).toEqual([])
  await t.redis.del(keys.alertsLeaseKey(t.prefix))
  await t.after(1)
  await t.after(1)
  expect((await t.sent()).map(({ channel }) => channel).toSorted()).toEqual(['ops', 'second'])
})

test('when Redis has lost everything, the alerts are those that Postgres has', async () => {
  await using t = await setupAlerts(LEADER)
  await t.after(0)
  await t.after(10)
  const [before] = await t.db.selectFrom('alert_states').selectAll().execute()
  await t.redis.del(keys.alertStatesKey(t.prefix), keys.alertsLeaseKey(t.prefix))
  await t.after(10, t.evaluator())
  expect(await t.events()).toEqual(['opened'])
  const rows = await t.db.selectFrom('alert_states').selectAll().execute()
  expect(rows).toMatchObject([{ id: before?.id, sent: 1, closed_at: null }])
})

test('what happened while nobody evaluated is told of, however short the window', async () => {
  await using t = await setupAlerts({ ...LETTERS, parameters: { window: '1m' } })
  await t.after(0)
  await t.record(died({ finished_at: t.iso(60), attempt_finished_at: t.iso(60) }))
  await t.after(3_600)
  await t.after(10)
  expect(await t.events()).toEqual(['opened'])
  await t.after(60)
  expect(await t.events()).toEqual(['opened', 'resolved'])
})

test('a schedule names who is told of it by mail, beside the channels', async () => {
  await using t = await setupAlerts(LETTERS, { default: false })
  const spec = { job: 'email.send', cron: '0 6 * * *', alert: 'ops@example.com, ana@example.com' }
  await applySchedules(t.db, {
    schedules: [{ name: 'nightly', input: spec }],
    prune: false,
    source: 'api',
    author: 'test',
    now: systemClock.now(),
  } as never)
  await t.record(died({ schedule: 'nightly' }))
  await t.after(0)
  await t.after(10)
  expect(await t.sent()).toMatchObject([{ job: 'alert.email', channel: 'schedule' }])
})

test('labels route: only what has them is told of', async () => {
  await using t = await setupAlerts({ ...LETTERS, matchers: { labels: { team: 'billing' } } })
  await t.record(died(), died({ job: 'bill.send', labels: { team: 'billing', from: 'demo' } }))
  await t.after(0)
  await t.after(10)
  expect((await t.sent()).map(({ title }) => title)).toEqual([
    '1 run of bill.send died: Error: no answer',
  ])
})

test('an alert that nobody is told of is sent when a channel is there', async () => {
  await using t = await setupAlerts({ ...LEADER, channels: ['later'] })
  await t.after(0)
  await t.after(10)
  expect(await t.sent()).toEqual([])
  await t.setChannel({ kind: 'email', to: ['ops@example.com'] }, 'later')
  await t.after(10)
  expect(await t.sent()).toMatchObject([{ event: 'opened', channel: 'later' }])
})

test('a rule that is switched off or deleted takes its alerts along, without a word', async () => {
  await using t = await setupAlerts(LEADER)
  await t.after(0)
  await t.after(10)
  await t.setRule({ ...LEADER, enabled: false })
  await t.after(10)
  await t.after(10)
  expect(await t.events()).toEqual(['opened'])
  const [row] = await t.db.selectFrom('alert_states').select('closed_at').execute()
  expect(row?.closed_at).not.toBeNull()
  expect(await t.redis.hlen(keys.alertStatesKey(t.prefix))).toBe(0)
})

test('alerts that open and close are events', async () => {
  await using t = await setupAlerts(LEADER)
  await t.after(0)
  await t.redis.set(keys.leaseKey(t.prefix), 'token')
  await t.after(10)
  const entries = await t.redis.xrange(keys.eventsKey(t.prefix), '-', '+')
  expect(entries.map(([, [, type]]) => type)).toEqual(['alert.opened', 'alert.closed'])
})
