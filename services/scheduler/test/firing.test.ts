import { MINUTE } from '@jadwal/domain'
import { keys } from '@jadwal/queue'
import { eventually, startTestRedis } from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { minute, passAll, schedule, setup } from './firing-setup.ts'

test('a leader fires what is owed since the schedule began, and a second one finds nothing left', async () => {
  const { book, lead, facts, now } = await setup()
  book.put([schedule(now, [{ from: minute(now) - 5 * MINUTE }])], now)
  await passAll(lead(1))
  const first = await facts()
  expect(first.map(({ state }) => state)).toEqual(Array(5).fill('queued'))
  await passAll(lead(2))
  expect(await facts()).toEqual(first)
})

test('with overlap skip, catching up gives one run, the oldest, and a reason for each other tick', async () => {
  const { book, lead, facts, now } = await setup()
  book.put([schedule(now, [{ from: minute(now) - 4 * MINUTE, spec: { overlap: 'skip' } }])], now)
  await passAll(lead(1))
  const [oldest, ...others] = await facts()
  expect(oldest?.state).toBe('queued')
  expect(others.map(({ state, reason }) => `${state} ${reason}`)).toEqual(
    Array(3).fill('skipped overlap'),
  )
})

test('each version rules its own time', async () => {
  const { book, lead, facts, now } = await setup()
  const edit = minute(now) - 3 * MINUTE + 1
  book.put(
    [
      schedule(now, [
        { from: minute(now) - 5 * MINUTE, until: edit, spec: { payload: { version: 'old' } } },
        { from: edit, spec: { every: '3m', offset: '0s', paused: true } },
      ]),
    ],
    now,
  )
  await passAll(lead(1))
  const lines = await facts()
  const old = lines.filter(({ state }) => state === 'queued')
  expect(old.every(({ tick_at }) => Date.parse(tick_at) <= edit)).toBe(true)
  expect(old).toHaveLength(2)
  expect(lines.filter(({ reason }) => reason === 'paused')).toHaveLength(1)
})

test('a schedule whose job moves to another queue fires no tick twice, also after a take-over', async () => {
  const { book, lead, facts, serve, redis, prefix, now } = await setup()
  const moving = schedule(now, [{ from: minute(now) - 3 * MINUTE }])
  book.put([moving], now)
  await passAll(lead(1))
  await serve('report', 'reports2')
  // Two ticks are owed again: the last tick is set back as if time had gone by.
  await redis.hset(keys.lastTicksKey(prefix, 'reports'), moving.id, minute(now) - 2 * MINUTE)
  await passAll(lead(2))
  expect((await facts('reports2')).map(({ tick_at }) => Date.parse(tick_at))).toEqual([
    minute(now) - MINUTE,
    minute(now),
  ])
  expect(await redis.hget(keys.lastTicksKey(prefix, 'reports'), moving.id)).toBe(
    `${minute(now) - 2 * MINUTE}:moved`,
  )
  await passAll(lead(3))
  expect(await facts('reports2')).toHaveLength(2)
  expect(await facts('reports')).toHaveLength(3)
})

test('a move that a crash cut short is finished by the next leader', async () => {
  const { book, lead, facts, serve, redis, prefix, now } = await setup()
  const moving = schedule(now, [{ from: minute(now) - 3 * MINUTE }])
  book.put([moving], now)
  await passAll(lead(1))
  await serve('report', 'reports2')
  await redis.hset(keys.lastTicksKey(prefix, 'reports'), moving.id, `${minute(now) - MINUTE}:moved`)
  await passAll(lead(2))
  expect((await facts('reports2')).map(({ tick_at }) => Date.parse(tick_at))[0]).toBe(minute(now))
})

test('and moves back again', async () => {
  const { book, lead, facts, serve, redis, prefix, now } = await setup()
  const moving = schedule(now, [{ from: minute(now) - 3 * MINUTE }])
  book.put([moving], now)
  await passAll(lead(1))
  await redis.hset(keys.lastTicksKey(prefix, 'reports'), moving.id, `${minute(now) - MINUTE}:moved`)
  await passAll(lead(2))
  const lines = await facts('reports')
  expect(lines.slice(3).map(({ tick_at }) => Date.parse(tick_at))[0]).toBe(minute(now))
  await serve('report', 'reports')
})

test('a job that no worker serves yet holds its ticks until one does', async () => {
  const { book, lead, facts, serve, now } = await setup()
  book.put([schedule(now, [{ from: minute(now) - 2 * MINUTE, spec: { job: 'later' } }])], now)
  const firing = lead(1)
  await firing.pass()
  expect(await facts()).toEqual([])
  await serve('later', 'later')
  await passAll(firing)
  expect(await facts('later')).toHaveLength(2)
})

test('an old version whose job nobody ever served does not keep the one in force from firing', async () => {
  const { book, lead, facts, now } = await setup()
  const edit = minute(now) - 3 * MINUTE + 1
  const fixed = schedule(now, [
    { from: minute(now) - 6 * MINUTE, until: edit, spec: { job: 'reprot' } },
    { from: edit },
  ])
  book.put([fixed], now)
  await passAll(lead(1))
  const lines = await facts()
  expect(lines.map(({ state, reason, tick_count }) => [state, reason, tick_count])).toEqual([
    ['skipped', 'unknown-job', 3],
    ['queued', undefined, undefined],
    ['queued', undefined, undefined],
    ['queued', undefined, undefined],
  ])
})

test('large payloads of skipped ticks do not go into one transaction', async () => {
  const { book, lead, facts, now, redis, prefix } = await setup()
  const spec = { paused: true, payload: { text: 'x'.repeat(60_000) } }
  const many = Array.from({ length: 200 }, () =>
    schedule(now, [{ from: minute(now) - MINUTE, spec }]),
  )
  book.put(many, now)
  await passAll(lead(1))
  expect(await facts()).toHaveLength(200)
  const entries = await redis.xrange(keys.outboxKey(prefix, 'reports'), '-', '+')
  const sizes = entries.map(([, fields]) => (fields[1] ?? '').length)
  expect(Math.max(...sizes)).toBeLessThan(5 * 1024 * 1024)
})

test('an outage of a dense schedule is one row for the range that is skipped', async () => {
  const { book, lead, facts, now } = await setup()
  const spec = { every: '1s', misfire: { policy: 'skip' as const } }
  book.put([schedule(now, [{ from: now - 3_600_000, spec }])], now)
  await passAll(lead(1))
  const ranges = (await facts()).filter(({ reason }) => reason === 'misfire')
  expect(ranges).toHaveLength(1)
  expect(ranges[0]?.tick_count).toBeGreaterThan(3_500)
})

test('a backlog of one schedule does not keep others from firing in the same pass', async () => {
  const { book, lead, facts, now } = await setup()
  const dense = schedule(now, [
    { from: now - 400_000, spec: { every: '1s', misfire: { policy: 'all', after: '1h' } } },
  ])
  const punctual = { ...schedule(now, [{ from: minute(now) - MINUTE }]), name: 'punctual' }
  book.put([dense, punctual], now)
  const firing = lead(1)
  await firing.pass()
  const lines = await facts()
  expect(lines.filter(({ schedule: name }) => name === 'punctual').length).toBeGreaterThanOrEqual(1)
  expect(lines.filter(({ schedule: name }) => name === 'report').length).toBeLessThanOrEqual(100)
  await passAll(firing)
  expect((await facts()).length).toBeGreaterThanOrEqual(300)
})

test('a leader whose term is over fires nothing', async () => {
  const { book, lead, facts, now } = await setup()
  book.put([schedule(now, [{ from: minute(now) - 3 * MINUTE }])], now)
  await passAll(lead(5))
  const before = await facts()
  await expect(lead(4).pass()).rejects.toThrow('ours is 4')
  expect(await facts()).toEqual(before)
})

test('after a lost connection it looks at everything again', async () => {
  const server = await startTestRedis({ appendonly: 'no' })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { book, lead, facts, redis, prefix, now } = await setup(server.url)
  const only = schedule(now, [{ from: minute(now) - 3 * MINUTE }])
  book.put([only], now)
  const firing = lead(1)
  await passAll(firing)
  // What a Redis that lost the end of its AOF looks like: last tick and term are older.
  await redis.hset(keys.lastTicksKey(prefix, 'reports'), only.id, minute(now) - MINUTE)
  await redis.hdel(keys.lastTicksKey(prefix, 'reports'), 'term')
  await redis.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  const before = (await facts()).length
  await expect
    .poll(
      async () => {
        await firing.pass().catch(() => undefined)
        return (await facts()).length
      },
      { timeout: 30_000 },
    )
    .toBeGreaterThan(before)
})

test('while Redis is nearly full ticks wait, and are fired afterwards', async () => {
  const { book, lead, facts, now, full } = await setup()
  book.put([schedule(now, [{ from: minute(now) - 3 * MINUTE }])], now)
  const firing = lead(1)
  full.yes = true
  await firing.pass()
  expect(await facts()).toEqual([])
  full.yes = false
  await passAll(firing)
  expect(await facts()).toHaveLength(3)
})

test('an outage too long to be decided in one go is decided piece by piece, and the punctual go first', async () => {
  const { book, lead, facts, now } = await setup()
  const spec = { cron: '* * * * * *', every: undefined, misfire: { policy: 'skip' as const } }
  const dense = Array.from({ length: 40 }, () => schedule(now, [{ from: now - 30_000_000, spec }]))
  const punctual = { ...schedule(now, [{ from: minute(now) - MINUTE }]), name: 'punctual' }
  book.put([...dense, punctual], now)
  const firing = lead(1)
  const isThere = async (): Promise<boolean> =>
    (await facts()).some(({ schedule: name }) => name === 'punctual')
  for (let passes = 0; passes < 50 && !(await isThere()); passes += 1) await firing.pass()
  expect(await isThere()).toBe(true)
  const portions = (await facts()).filter(({ reason }) => reason === 'misfire')
  expect(Math.max(...portions.map(({ tick_count = 1 }) => tick_count))).toBeLessThan(29_000)
  await passAll(firing)
  // Each portion makes the row of the one before longer.
  const rows = new Map((await facts()).map((fact) => [fact.id, fact]))
  const ranges = [...rows.values()].filter(({ reason }) => reason === 'misfire')
  const skipped = ranges.reduce((sum, { tick_count = 1 }) => sum + tick_count, 0)
  expect(ranges).toHaveLength(40)
  expect(skipped).toBeGreaterThan(40 * 29_800)
})

test('a pause of a dense schedule is one row, however often it is looked at, and a new one after a day', async () => {
  const { book, lead, facts, now } = await setup()
  const paused = schedule(now, [
    { from: now - 30 * 3_600_000, spec: { every: '1s', paused: true, endsAt: null } },
  ])
  book.put([paused], now)
  const firing = lead(1)
  await passAll(firing)
  const before = (await facts()).length
  await eventually(async () => {
    await firing.pass()
    expect((await facts()).length).toBeGreaterThan(before)
  })
  const rows = new Map((await facts()).map((fact) => [fact.id, fact]))
  const counts = [...rows.values()].map(({ tick_count: count = 1 }) => count)
  expect(counts).toHaveLength(2)
  expect(Math.max(...counts)).toBeLessThanOrEqual(86_400)
  expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBeGreaterThan(30 * 3_600 - 60)
})
