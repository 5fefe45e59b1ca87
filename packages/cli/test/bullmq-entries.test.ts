import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { BullmqReader } from './bullmq-reader.ts'

let bullmq: BullmqReader

beforeAll(async () => {
  bullmq = await BullmqReader.start()
})

afterAll(async () => {
  await bullmq[Symbol.asyncDispose]()
})

beforeEach(async () => {
  await bullmq.redis.flushall()
})

test('the next job is found by its time when its id is not', async () => {
  await bullmq.redis.zadd('bull:q:repeat', 1.8e12, 'old::::5000')
  await bullmq.redis.zadd('bull:q:delayed', 1.8e12 * 0x1000 + 3, 'repeat:unknown:1800000000000')
  await bullmq.redis.hset('bull:q:repeat:unknown:1800000000000', {
    name: 'old',
    data: '{"a":1}',
    rjk: 'old::::5000',
    opts: '{"repeat":{"every":5000}}',
  })
  expect((await bullmq.take()).schedules).toMatchObject([{ every: 5_000, payload: { a: 1 } }])
})

test.each([
  [{ pattern: 'H * * * *' }, 'stands for a random value'],
  [{ pattern: '0 0 30 2 *' }, 'never fires'],
  [{ pattern: 'DTSTART:20260101T000000Z\nRRULE:FREQ=HOURLY' }, 'pattern "DTSTART'],
  [{ pattern: '0 1 * * *', tz: 'Mars/Base' }, 'its zone "Mars/Base" is no IANA time zone'],
  [{ pattern: '0 1 * * *', endDate: '1700000000000' }, 'it ended at 2023-11-14T22:13:20.000Z'],
  [{ pattern: '0 1 * * *', data: '{"a":' }, 'its data is no JSON'],
  [{ pattern: '0 1 * * *', data: '{"db":{"secret":"HUNTER2"}}' }, 'payload.db has "secret" as its'],
  [{ pattern: '0 1 * * *', data: '{"__proto__":{"a":1}}' }, 'has the key "__proto__"'],
  [{ pattern: '0 1 * * *', data: `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}` }, 'nested more'],
  [{ pattern: '0 1 * * *', data: `{"a":"${'x'.repeat(70_000)}"}` }, 'at most 65536 are allowed'],
  [{ pattern: '0 1 * * *', startDate: '9e15' }, 'startsAt ("9000000000000000")'],
  [{ every: '99999999999' }, 'every ("99999999999ms"): must be at most 366d'],
  [{ every: '0.5' }, 'every 0.5: is no whole number of milliseconds'],
  [{}, 'Redis says neither when it fires nor what'],
])('a scheduler is not taken over, and why is told (%#)', async (meta, why) => {
  await bullmq.addScheduler('one', meta)
  await bullmq.addScheduler('two', { every: '60000' })
  const { schedules, refused } = await bullmq.take()
  expect(schedules.map(({ name }) => name)).toEqual(['q.two'])
  expect(refused[0]).toBe('bull:q:repeat:one: one')
  expect(refused[1]).toContain(why)
})

test.each([
  ['12 *', '0 * * * 12 *', 'one: BullMQ reads "12 *", which has too few fields, as "0 * * * 12 *"'],
  ['0 0 1 * */2', '0 0 1 * 0-6/2', 'one: BullMQ fires "0 0 1 * */2" when either day field matches'],
])('the pattern %s is understood as BullMQ does, and that is told', async (pattern, cron, note) => {
  await bullmq.addScheduler('one', { pattern, tz: 'UTC' })
  const { schedules, report } = await bullmq.take()
  expect(schedules).toMatchObject([{ cron }])
  expect(report).toContain(note)
})

test('a scheduler whose next run is long overdue is told', async () => {
  await bullmq.addScheduler('dead', { every: '60000' }, Date.parse('2026-11-01T00:00:00Z'))
  expect((await bullmq.take()).report).toContain(
    'q.dead: its next run was due at 2026-11-01T00:00:00.000Z',
  )
})

test('a thousand schedulers are read, each once', async () => {
  const pipeline = bullmq.redis.pipeline()
  for (let n = 0; n < 1_000; n += 1) {
    pipeline.hset(`bull:q:repeat:s-${n}`, { name: 'job', every: '60000', ic: '1' })
    pipeline.zadd('bull:q:repeat', 1.8e12 + n, `s-${n}`)
  }
  await pipeline.exec()
  expect(new Set((await bullmq.take()).schedules.map(({ name }) => name)).size).toBe(1_000)
})

test('an id writes nothing into the file but its name', async () => {
  await bullmq.addScheduler('a\r\nprune: true\r# \u001B[2J', { every: '60000' })
  const { schedules, report } = await bullmq.take()
  expect(schedules.map(({ name }) => name)).toEqual(['q.a-prune-true-2-j'])
  expect(report).not.toContain('\u001B')
})

test('an entry that is due never, or at no time at all, is no trouble', async () => {
  await bullmq.redis.zadd('bull:q:repeat', 'inf', 'old::::5000')
  await bullmq.addScheduler('one', { every: '60000' }, -1.5)
  await bullmq.redis.set('bull:q:repeat:old::::5000', 'not a hash')
  const { schedules } = await bullmq.take()
  expect(schedules).toMatchObject([{ name: 'q.old' }, { name: 'q.one' }])
  expect(schedules.map(({ offset }) => offset)).toEqual([undefined, undefined])
})
