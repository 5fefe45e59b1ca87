import { once } from 'node:events'
import { createServer } from 'node:net'
import { nextTick, scheduleCadence } from '@jadwal/domain'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { BullmqReader } from './bullmq-reader.ts'
import { runInProcess } from './run-in-process.ts'

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

test('takes over the job schedulers of BullMQ 6, of all queues of a prefix', async () => {
  await bullmq.fill('bullmq-6.7')
  const { schedules, report, refused } = await bullmq.take('--prefix', '{prod}')
  expect(schedules).toMatchObject([
    {
      name: 'mail.nightly',
      job: 'mail.build',
      cron: '0 4 * * *',
      timezone: 'Asia/Jakarta',
      payload: { to: 'ops' },
      paused: true,
      overlap: 'allow',
      attempts: 1,
      misfire: { policy: 'once' },
    },
    {
      name: 'reports.every-second',
      job: 'reports.poll',
      cron: '*/10 * * * * *',
      timezone: 'UTC',
      paused: false,
    },
    {
      name: 'reports.nightly',
      job: 'reports.build',
      cron: '30 2 * * *',
      timezone: 'America/New_York',
      payload: { full: true, since: '24h' },
      attempts: 4,
      priority: 1_000,
    },
    { name: 'reports.tenant-7-sync', every: 90_000, payload: { data: ['a', 'b'] } },
    { name: 'reports.thrice', cron: '0 0 * * 1-5', paused: true, payload: {} },
    {
      name: 'reports.trial',
      cron: '0 12 1-31/2 * 1',
      startsAt: '2027-01-01T00:00:00.000Z',
      endsAt: '2027-06-01T00:00:00.000Z',
    },
  ])
  expect(refused.filter((line) => line.startsWith('{prod}'))).toEqual([
    '{prod}:reports:repeat:every-second: reports.every-second: opts.lifo: true',
    expect.stringContaining('reports.nightly: opts.backoff: {"'),
    expect.stringContaining('reports.nightly: opts.keepLogs: 20'),
    expect.stringContaining('reports.nightly: opts.removeOnFail: 100'),
    '{prod}:reports:repeat:quick: quick',
    '{prod}:reports:repeat:thrice: reports.thrice: limit 3, of which 1 were made',
  ])
  expect(refused.join()).toContain('every ("250ms"): must be at least 1s')
  expect(report).toContain('mail.nightly: the queue mail is paused, so the schedule is too')
  expect(report).toContain('reports.nightly: priority 5000 became 1000')
  expect(report).toContain('No tz: reports.trial fired in the zone of whichever process')
  expect(report).toContain(`name another one with --map 'reports/build=…'`)
})

test('an interval fires when BullMQ would', async () => {
  await bullmq.fill('bullmq-6.7')
  const { schedules } = await bullmq.take('--prefix', '{prod}', '--queue', 'reports')
  const spec = schedules.find(({ name }) => name === 'reports.tenant-7-sync')
  const nextMs = Number(await bullmq.redis.zscore('{prod}:reports:repeat', 'tenant:7:sync'))
  expect(spec && nextTick(scheduleCadence(spec), nextMs - 1)).toBe(nextMs)
  expect(nextMs % 90_000).toBe(15_000)
})

test.each(['bullmq-3.15', 'bullmq-5.60'])(
  'takes over the legacy repeatables of %s',
  async (name) => {
    await bullmq.fill(name)
    const { schedules, refused } = await bullmq.take('--timezone', 'Asia/Tokyo')
    const byName = new Map(schedules.map((schedule) => [schedule.name, schedule]))
    expect(byName.get('mail.weekly-digest')).toMatchObject({
      job: 'mail.weekly-digest',
      cron: '0 9 * * 1',
      timezone: 'Europe/Berlin',
      payload: { list: 'all', n: 1 },
      attempts: 5,
    })
    expect(byName.get('mail.poll')).toMatchObject({
      every: 60_000,
      offset: expect.toSatisfy((ms) => ms > 15_000 && ms < 16_000),
      payload: { box: 'in' },
      priority: 3,
      paused: true,
    })
    expect(byName.get('mail.no-colon')).toMatchObject({
      cron: '*/10 * * * *',
      timezone: 'Asia/Tokyo',
      endsAt: '2030-01-01T00:00:00.000Z',
    })
    expect(refused.join('\n')).toContain('mail.poll: limit 100, of which 1 were made')
    expect(refused.join('\n')).toContain('mail.weekly-digest: opts.removeOnComplete: true')
  },
)

test('takes over the repeatable jobs of Bull', async () => {
  await bullmq.fill('bull-4.16')
  const { schedules } = await bullmq.take()
  expect(schedules).toMatchObject([
    { name: 'images', job: 'images', cron: '15 3 * * *', payload: { size: 3 } },
    { name: 'images.thumb', job: 'images.thumb', every: 30_000, payload: { size: 4 } },
  ])
})

test('legacy repeatables whose next job is gone are taken over without their payload, and that is told', async () => {
  await bullmq.fill('bullmq-3.15')
  const keys = await bullmq.redis.keys('bull:mail:repeat:*')
  await bullmq.redis.del(keys)
  const { schedules, refused } = await bullmq.take()
  expect(schedules.map(({ name, cron, every, payload }) => [name, cron ?? every, payload])).toEqual(
    [
      ['mail.no-colon', '*/10 * * * *', {}],
      ['mail.poll', 60_000, {}],
      ['mail.weekly-digest', '0 9 * * 1', {}],
    ],
  )
  expect(refused.filter((line) => line.endsWith(': its data'))).toHaveLength(3)
})

test('jobs are those that --map names, and a mapping for nothing is told', async () => {
  await bullmq.fill('bullmq-6.7')
  const map = ['--map', 'reports/build=report.generate', '--map', 'reports/none=x']
  const { schedules, report } = await bullmq.take(
    '--prefix',
    '{prod}',
    '--queue',
    'reports',
    ...map,
  )
  const jobs = schedules.map(({ name, job }) => [name, job])
  expect(jobs).toContainEqual(['reports.nightly', 'report.generate'])
  expect(jobs).toContainEqual(['reports.every-second', 'reports.poll'])
  expect(report).toContain('--map reports/none: nothing repeats under that queue and name.')
  expect(report).not.toContain('the job reports/build became')
})

test('a queue without anything that repeats gives an empty file', async () => {
  await bullmq.redis.hset('bull:idle:meta', 'version', 'bullmq:6.7.0')
  const { schedules, report } = await bullmq.take()
  expect(schedules).toEqual([])
  expect(report).toMatch(
    /^redis:\/\/127\.0\.0\.1:\d+ bull: 0 schedules taken over, 0 parts not\.\n$/,
  )
})

test.each([
  [['--prefix', 'nope'], 'no queue has the prefix "nope"'],
  [['--prefix', 'b*'], 'no queue has the prefix "b*"'],
  [['--queue', 'nope'], 'no queue "nope" has the prefix "bull"; there are mail'],
])('with %j nothing is found: one message, and exit code 1', async (options, message) => {
  await bullmq.fill('bullmq-5.60')
  const { exitCode, output, report } = await bullmq.run(...options)
  expect(exitCode).toBe(1)
  expect(output).toBe('')
  expect(report).toContain(message)
})

test('what is no sorted set is told', async () => {
  await bullmq.redis.set('bull:q:repeat', 'x')
  const { exitCode, report } = await bullmq.run()
  expect(exitCode).toBe(1)
  expect(report).toBe('jadwal: bull:q:repeat is a string, not a sorted set as BullMQ makes it\n')
})

test('a wrong password, a Redis that is away and one that does not answer give exit code 1', async () => {
  const wrong = await runInProcess([
    'import',
    'bullmq',
    '--redis-url',
    bullmq.url.replace('pass', 'word'),
  ])
  expect(wrong).toMatchObject({ exitCode: 1, output: '' })
  expect(wrong.report).toContain('WRONGPASS')
  expect(wrong.report).not.toContain('word@')
  const database = await runInProcess(['import', 'bullmq', '--redis-url', `${bullmq.url}/99`])
  expect(database).toMatchObject({ exitCode: 1, output: '' })
  expect(database.report).toContain('/99 cannot be read: ERR DB index is out of range')
  const away = await runInProcess(['import', 'bullmq', '--redis-url', 'redis://127.0.0.1:1'])
  expect(away.report).toMatch(/^jadwal: redis:\/\/127\.0\.0\.1:1 cannot be read: .*ECONNREFUSED/)
  bullmq.server.pause()
  try {
    const frozen = await bullmq.run()
    expect(frozen.exitCode).toBe(1)
    expect(frozen.report).toMatch(/cannot be read: no answer within 8 s|Command timed out/)
  } finally {
    bullmq.server.resume()
  }
})

test('what is no Redis is told', async () => {
  const server = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  try {
    const url = `redis://127.0.0.1:${port}`
    expect(await runInProcess(['import', 'bullmq', '--redis-url', url])).toEqual({
      exitCode: 1,
      output: '',
      report: `jadwal: ${url} cannot be read: what answers there is no Redis\n`,
    })
  } finally {
    server.close()
  }
})
