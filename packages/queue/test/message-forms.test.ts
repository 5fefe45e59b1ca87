import { readFileSync } from 'node:fs'
import { DeadLetter, findRunInRedis, keys, publishCatalogue, type RunEnd } from '@jadwal/queue'
import { DEFAULT_BACKOFF, type JobDescription, newRunId, systemClock } from '@jadwal/domain'
import { randomBytes } from 'node:crypto'
import { eventually, startTestRedis, type TestRedis } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBench } from './run-bench.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startTestRedis()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const EMAIL: JobDescription = {
  name: 'email.send',
  queue: 'emails',
  attempts: 3,
  backoff: DEFAULT_BACKOFF,
  timeoutMs: 1_000,
  payloadSchema: {},
}

const SUCCEEDED: RunEnd = { kind: 'succeeded' }

/** Hashes as they lie in a queue's Redis, as each version of the code has written them. Never to be changed. */
const WRITTEN = JSON.parse(
  readFileSync(new URL('fixtures/messages.json', import.meta.url), 'utf8'),
) as {
  messages: {
    what: string
    hash: Record<string, string>
    attempt: number
    failures: number
    message: object
  }[]
  letters: { what: string; data: string; letter: object }[]
}

test.each(WRITTEN.messages)(
  'a message as it was written before is understood: $what',
  async (written) => {
    await using bench = openBench(server.url)
    const id = newRunId(systemClock.now().getTime(), randomBytes(10))
    await bench.redis.hset(bench.messageKey(id), written.hash)
    await bench.redis.lpush(keys.bullKey(bench.prefix, 'emails', 'wait'), id)
    bench.work((run) => {
      expect(run.message).toEqual(written.message)
      return SUCCEEDED
    })
    await eventually(() => expect(bench.ends).toMatchObject([{ end: SUCCEEDED, counted: true }]))
    const { attempt, failures } = written
    expect(bench.calls).toMatchObject([{ id, attempt, failures }])
  },
)

test.each(WRITTEN.letters)(
  'a dead letter as it was written before is understood: $what',
  (written) => {
    expect(DeadLetter.parse(JSON.parse(written.data))).toEqual(written.letter)
  },
)

test('a message of a form that is not known is left as it is, and made by a worker that knows it', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add({
    v: 2,
    payload: { to: 'b' },
    labels: { team: 'a' },
    schedule: 'other',
  })
  const at = bench.messageKey(id)
  const before = await bench.redis.hgetall(at)
  const worker = bench.work(() => SUCCEEDED)
  // Looked at more than once: each time it is as if nobody had.
  await eventually(() => expect(bench.leftAlone.length).toBeGreaterThan(1))
  await worker.close()
  expect({ ...(await bench.redis.hgetall(at)), delay: '0' }).toEqual({ ...before, ats: '0' })
  expect(bench.calls).toEqual([])
  expect(await bench.facts()).toEqual([])
  expect(await bench.redis.exists(`${at}:lock`)).toBe(0)

  await publishCatalogue(bench.redis, bench.prefix, [EMAIL])
  const shown = await findRunInRedis(bench.redis, bench.prefix, { queues: ['emails'], id })
  expect(shown).toMatchObject({
    state: 'queued',
    job: 'email.send',
    attempt: 0,
    payload: { to: 'b' },
    labels: { team: 'a' },
  })
  expect(shown).not.toHaveProperty('schedule')

  // To a worker of this version a message becomes known when it is written in its form.
  await bench.redis.hset(at, 'data', JSON.stringify({ v: 1, payload: {} }))
  bench.work(() => SUCCEEDED)
  await eventually(() => expect(bench.calls).toMatchObject([{ id, attempt: 1, failures: 0 }]))
})

test.each([
  ['of a job that nobody has published', undefined],
  ['of a job that redacts something', { ...EMAIL, redact: ['to'] }],
])('a message of an unknown form %s is shown without its payload', async (_what, job) => {
  await using bench = openBench(server.url)
  const id = await bench.add({ v: 2, payload: { to: 'b' } })
  await publishCatalogue(bench.redis, bench.prefix, job ? [job] : [])
  const shown = await findRunInRedis(bench.redis, bench.prefix, { queues: ['emails'], id })
  expect(shown).toMatchObject({ state: 'queued', payload: '[redacted]' })
})

test('a message without a payload is shown whole', async () => {
  await using bench = openBench(server.url)
  const id = await bench.add({ v: 3, payload: undefined, body: 'x' })
  await bench.redis.hset(bench.messageKey(id), 'data', '{"v":3,"body":"x"}')
  await publishCatalogue(bench.redis, bench.prefix, [EMAIL])
  const shown = await findRunInRedis(bench.redis, bench.prefix, { queues: ['emails'], id })
  expect(shown).toMatchObject({ state: 'queued', payload: { v: 3, body: 'x' } })
})

test('a run of an unknown job keeps the time at which it was first left alone, until somebody knows it', async () => {
  await using bench = openBench(server.url)
  // As a version that kept no time left it.
  const id = await bench.add({}, { ats: 1, jo: '1:parked' })
  const seen: (number | undefined)[] = []
  bench.work((run) => {
    seen.push(run.leftAloneSinceMs)
    if (seen.length === 4) return { kind: 'retry', delayMs: 1, error: { name: 'E', message: '' } }
    if (seen.length === 5) return { kind: 'succeeded' }
    return { kind: 'left-alone', delayMs: 1 }
  })
  await eventually(() => expect(bench.ends).toHaveLength(2))
  const first = bench.calls[0]?.startedAtMs
  expect(seen).toEqual([undefined, first, first, first, undefined])
  expect(bench.calls.at(-1)).toMatchObject({ id, failures: 1, lostAttempts: [] })
})
