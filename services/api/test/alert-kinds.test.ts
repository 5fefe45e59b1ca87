import { markLateTicks } from '@jadwal/db'
import { revision, systemClock } from '@jadwal/domain'
import { createProducer, keys, publishCatalogue, publishHeartbeat } from '@jadwal/queue'
import { expect, inject, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupAlerts } from './setup-alerts.ts'
import { factOf } from './setup-history.ts'

type Setup = Awaited<ReturnType<typeof setupAlerts>>

interface Case {
  rule: object
  title: RegExp
  /** What is wrong, and the end of it. */
  begin: (t: Setup) => Promise<unknown>
  end: (t: Setup) => Promise<unknown>
}

const died = factOf('dead', { reason: 'failed', error: { name: 'Error', message: 'no answer' } })
const tick = factOf('running', { schedule: 'nightly', tick_at: systemClock.now().toISOString() })

async function enqueueOne({ prefix }: Setup, queue = 'emails'): Promise<void> {
  const producer = createProducer({ url: inject('redisUrl'), prefix, onError: () => undefined })
  await producer.enqueue({ name: 'email.send', queue }, {})
  await producer.close()
}

const CASES: Record<string, Case> = {
  'dead-letter': {
    rule: { kind: 'dead-letter' },
    title: /^1 run of email\.send died: Error: no answer$/,
    begin: (t) => t.record(died),
    end: (t) =>
      t.record({
        kind: 'letter',
        id: died.id,
        letter: { at: t.iso(), by: 'ana', reason: 'a test order' },
      }),
  },
  'late-tick': {
    rule: { kind: 'late-tick' },
    title: /^1 tick of nightly is late$/,
    begin: async (t) => {
      await t.record({ ...tick, late_due_at: t.iso(-5) })
      const now = new Date(t.time.ms)
      await markLateTicks(t.db, { before: now, now, limit: 10 }, async () => undefined)
    },
    end: (t) =>
      t.record({
        ...factOf('succeeded', { schedule: 'nightly' }),
        id: tick.id,
        late_due_at: t.iso(-30),
      }),
  },
  'missed-tick': {
    rule: { kind: 'missed-tick', parameters: { window: '1m' } },
    title: /^3 ticks of nightly were missed$/,
    begin: (t) =>
      t.record({
        ...factOf('skipped', { schedule: 'nightly', reason: 'misfire', tick_count: 3 }),
        revision: revision(0, 'skipped'),
        attempt: 0,
        attempt_state: undefined,
        finished_at: t.iso(),
      }),
    end: async (t) => {
      t.time.ms += 180_000
      // Ends when nobody has to look so far back any more.
      await t.after(0)
    },
  },
  'failure-rate': {
    rule: { kind: 'failure-rate', parameters: { minRuns: 3, rate: 0.6, window: '2m' } },
    title: /^67 % of the runs of email\.send died: 2 of 3 in the last 2m$/,
    begin: (t) =>
      t.record(factOf('dead', { reason: 'failed' }), factOf('dead'), factOf('succeeded')),
    end: (t) => t.record(factOf('succeeded'), factOf('succeeded')),
  },
  'oldest-waiting': {
    rule: { kind: 'oldest-waiting', parameters: { after: '1s' } },
    title: /^The next run of the queue emails has been waiting for \d+ s$/,
    begin: async (t) => {
      await enqueueOne(t)
      t.time.ms += 2_000
    },
    end: ({ redis, prefix }) => redis.del(keys.bullKey(prefix, 'emails', 'wait')),
  },
  'no-leader': {
    rule: { kind: 'no-leader', for: '0s' },
    title: /^No scheduler leads/,
    begin: async () => undefined,
    end: ({ redis, prefix }) => redis.set(keys.leaseKey(prefix), 'token'),
  },
  'no-worker': {
    rule: { kind: 'no-worker', for: '0s' },
    title: /^No worker serves the queue emails: 1 run wait$/,
    begin: (t) => enqueueOne(t),
    end: (t) =>
      publishHeartbeat(t.redis, t.prefix, {
        instance: 'w',
        host: 'h',
        pid: 1,
        version: '0',
        startedAt: t.iso(),
        seenAt: t.iso(),
        state: 'running',
        queues: [{ name: 'emails', concurrency: 1 }],
        running: [],
        runningCount: 0,
        memoryBytes: 0,
      }),
  },
  outbox: {
    rule: { kind: 'outbox', parameters: { lag: '5m' } },
    title: /^Facts of emails have been waiting for 10 min to be recorded: entries: 1$/,
    begin: async ({ redis, prefix, time }) => {
      await redis.sadd(keys.queuesKey(prefix), 'emails')
      await redis.xadd(keys.outboxKey(prefix, 'emails'), `${time.ms - 600_000}-0`, 'facts', '{}')
    },
    end: ({ redis, prefix }) => redis.del(keys.outboxKey(prefix, 'emails')),
  },
  'fuse-open': {
    rule: { kind: 'fuse-open', matchers: { job: 'partner.*' } },
    title: /^The fuse of partner\.call is open: 0 runs of it wait$/,
    begin: async ({ redis, prefix }) => {
      const fuse = { failureRate: 0.5, minAttempts: 20, windowMs: 60_000, openMs: 30_000 }
      await publishCatalogue(redis, prefix, [{ ...EMAIL_JOB, name: 'partner.call', fuse }])
      const until = systemClock.now().getTime() + 600_000
      await redis.hset(keys.fuseKey(prefix, EMAIL_JOB.queue, 'partner.call'), {
        state: 'open',
        until,
      })
    },
    end: ({ redis, prefix }) => redis.del(keys.fuseKey(prefix, EMAIL_JOB.queue, 'partner.call')),
  },
  'rejected-facts': {
    rule: { kind: 'rejected-facts' },
    title: /^Postgres refused 1 fact of emails$/,
    begin: async ({ redis, prefix }) => {
      await redis.sadd(keys.queuesKey(prefix), 'emails')
      await redis.xadd(keys.outboxRejectedKey(prefix, 'emails'), '*', 'fact', '{}', 'error', 'no')
    },
    end: ({ redis, prefix }) => redis.del(keys.outboxRejectedKey(prefix, 'emails')),
  },
}

test.each(Object.entries(CASES))(
  'an alert of %s opens, and closes when it is over',
  async (kind, of) => {
    await using t = await setupAlerts(of.rule)
    if (kind !== 'no-leader') await t.redis.set(keys.leaseKey(t.prefix), 'token')
    await of.begin(t)
    await t.after(0)
    expect(await t.sent()).toEqual([])
    await t.after(10)
    expect(await t.sent()).toMatchObject([
      { event: 'opened', rule: 'r', channel: 'ops', title: expect.stringMatching(of.title) },
    ])
    await of.end(t)
    await t.after(10)
    expect(await t.events()).toEqual(['opened', 'resolved'])
    await t.after(60)
    expect(await t.events()).toEqual(['opened', 'resolved'])
  },
)

test('nothing of the queue alerts makes an alert', async () => {
  await using t = await setupAlerts({ kind: 'dead-letter' })
  await t.setRule({ kind: 'failure-rate', parameters: { minRuns: 1, rate: 0.1 } }, 'rate')
  await t.setRule({ kind: 'oldest-waiting', parameters: { after: '1s' } }, 'oldest')
  await t.setRule({ kind: 'no-worker', for: '0s' }, 'workers')
  await t.setRule({ kind: 'no-leader', for: '0s' }, 'leader')
  await t.record(factOf('dead', { queue: 'alerts', job: 'alert.webhook', reason: 'failed' }))
  await t.after(0)
  await t.after(10)
  expect(await t.sent()).toMatchObject([{ rule: 'leader' }])
  // The message itself waits now, and nobody serves it.
  await t.after(60)
  expect(await t.sent()).toHaveLength(1)
})
