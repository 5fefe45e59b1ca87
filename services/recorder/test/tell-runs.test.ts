import { keys, wantRunEvents } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { runFact, setup } from './recorder-bench.ts'

type Setup = Awaited<ReturnType<typeof setup>>

async function eventsOf({ redis, prefix }: Setup, which: 'events' | 'runs') {
  const key = which === 'events' ? keys.eventsKey(prefix) : keys.runEventsKey(prefix)
  return (await redis.xrange(key, '-', '+')).map(([, fields]) => {
    const [, type, , at, , data] = fields
    return { type, at, data: JSON.parse(data ?? '{}') as Record<string, unknown> }
  })
}

const dead = (message = 'no such address') =>
  runFact({
    state: 'dead',
    revision: 13,
    reason: 'failed',
    fingerprint: 'f1',
    payload: { secret: 'payload' },
    error: { name: 'SmtpError', message },
    started_at: '2026-09-01T12:00:00.500Z',
  })

test('a run that died raises one event, without its payload, however often its fact is delivered', async () => {
  const bench = await setup()
  await bench.startRecorder()
  const fact = dead('x'.repeat(5_000))
  await bench.put(fact, runFact())
  await bench.put(fact)
  await eventually(async () => expect(await bench.redis.xlen(bench.outbox)).toBe(0))
  const [event, ...others] = await eventsOf(bench, 'events')
  expect(others).toEqual([])
  expect(event).toEqual({
    type: 'run.dead',
    at: fact.finished_at,
    data: {
      id: fact.id,
      job: 'email.send',
      queue: 'emails',
      state: 'dead',
      attempt: 1,
      schedule: null,
      scheduleId: null,
      worker: null,
      enqueuedAt: fact.enqueued_at,
      startedAt: '2026-09-01T12:00:00.500Z',
      finishedAt: fact.finished_at,
      reason: 'failed',
      fingerprint: 'f1',
      error: { name: 'SmtpError', message: 'x'.repeat(200) },
    },
  })
  expect(await eventsOf(bench, 'runs')).toEqual([])
})

test('of many that die at once a few are told, and how many others there are', async () => {
  const bench = await setup()
  await bench.put(...Array.from({ length: 120 }, () => dead()))
  await bench.startRecorder()
  await eventually(async () => expect(await bench.redis.xlen(bench.outbox)).toBe(0))
  const events = await eventsOf(bench, 'events')
  expect(events).toHaveLength(50)
  expect(events.at(-1)?.data['more']).toBe(70)
})

test('all others are told while somebody listens', async () => {
  const bench = await setup()
  await wantRunEvents(bench.redis, bench.prefix)
  await bench.startRecorder()
  await eventually(async () => {
    await bench.put(runFact())
    const types = (await eventsOf(bench, 'runs')).map(({ type }) => type)
    expect(types).toContain('run.succeeded')
  })
  await bench.put(runFact({ state: 'running', revision: 11, finished_at: null }))
  await eventually(async () => {
    const types = (await eventsOf(bench, 'runs')).map(({ type }) => type)
    expect(types).toContain('run.started')
  })
})

test('a Redis that refuses events keeps no fact from being recorded', async () => {
  const bench = await setup()
  // No stream: what is to be appended is refused.
  await bench.redis.set(keys.eventsKey(bench.prefix), 'no stream')
  const fact = dead()
  await bench.put(fact)
  await bench.startRecorder()
  await bench.everythingRecorded([fact.id])
  expect(await bench.recorded()).toEqual([fact.id])
})
