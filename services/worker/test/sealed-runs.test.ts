import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { newRunId, systemClock } from '@jadwal/domain'
import { keys, PayloadCipher, runMessageOptions } from '@jadwal/queue'
import { redisText } from '@jadwal/testkit'
import { expect, inject, test } from 'vitest'
import { openBench } from './worker-bench.ts'

const JADWAL_JOBS = fileURLToPath(new URL('fixtures/sealed-jobs.mjs', import.meta.url))
const PIN = 'canary-3381-5527'

const k1 = { id: 'k1', secret: randomBytes(32) }
const k2 = { id: 'k2', secret: randomBytes(32) }
const listed = (...list: readonly (typeof k1)[]) => ({
  JADWAL_JOBS,
  JADWAL_ENCRYPTION_KEYS: list
    .map(({ id, secret }) => `${id}:${secret.toString('base64')}`)
    .join(','),
})

/** A run of the encrypted job, as a producer with the key k1 sends it. */
async function sendSealed({ queue }: ReturnType<typeof openBench>): Promise<string> {
  const enqueuedAtMs = systemClock.now().getTime()
  const id = newRunId(enqueuedAtMs, randomBytes(10))
  const about = { what: 'payload', job: 'sealed', id } as const
  const payload = new PayloadCipher([k1]).seal(JSON.stringify({ pin: PIN }), about)
  await queue.add(
    'sealed',
    { v: 1, payload },
    { ...runMessageOptions({ enqueuedAtMs }), jobId: id },
  )
  return id
}

test('a worker without keys does not start when it serves an encrypted job, and names the variable and the job', async () => {
  await using bench = openBench(inject('redisUrl'))
  const worker = bench.spawn({ JADWAL_JOBS })
  expect(await worker.exitCode()).toBe(78)
  expect(worker.logs.slice(-2)).toEqual([
    'jadwal worker: wrong environment',
    expect.stringMatching(/^  JADWAL_ENCRYPTION_KEYS must be set: .*\(sealed\)/),
  ])
})

test('a worker without keys serves the queues that have no encrypted job', async () => {
  await using bench = openBench(inject('redisUrl'))
  const worker = bench.spawn({ JADWAL_JOBS, JADWAL_QUEUES: 'others' })
  expect(await worker.ready).toBeGreaterThan(0)
})

test('a run whose key is gone ends dead, names the key and never what is in it', async () => {
  await using bench = openBench(inject('redisUrl'))
  const id = await sendSealed(bench)
  const worker = bench.spawn({ ...listed(k2), JADWAL_LOG_LEVEL: 'debug' })
  await worker.ready
  expect(await bench.reached(id, 'dead')).toMatchObject({
    reason: 'invalid-payload',
    attempt: 1,
    payload: { $encrypted: expect.stringMatching(/^1\.k1\./) },
    error: {
      name: 'UnreadableEnvelopeError',
      code: 'UNREADABLE_ENVELOPE',
      message:
        'the payload is encrypted with the key k1, which is not among JADWAL_ENCRYPTION_KEYS here',
    },
  })
  expect(await bench.redis.exists(keys.deadKey(bench.prefix, 'tests', id))).toBe(1)
  for (const text of [await redisText(bench.redis, bench.prefix), worker.logs.join('\n')])
    expect(text).not.toContain(PIN)
})

test('a run is opened by an older key, and its result sealed by the first', async () => {
  await using bench = openBench(inject('redisUrl'))
  const id = await sendSealed(bench)
  await bench.work(listed(k2, k1))
  const { result } = await bench.reached(id, 'succeeded')
  expect(result).toEqual({ $encrypted: expect.stringMatching(/^1\.k2\./) })
  const about = { what: 'result', job: 'sealed', id } as const
  const opened = new PayloadCipher([k2]).open(result as { $encrypted: string }, about)
  expect(JSON.parse(opened)).toEqual({ pin: PIN })
  expect(await redisText(bench.redis, bench.prefix)).not.toContain(PIN)
})
