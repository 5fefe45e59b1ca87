import { publishCatalogue, TryLaterError } from '@jadwal/queue'
import { eventually, startTestRedis } from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { checkRuns } from '../ledger/check-runs.ts'
import { JOBS, setupSystem } from '../support/system.ts'

test('near maxmemory producers are turned away with a clear answer, and nothing locks up', async () => {
  const redis = await startTestRedis({ maxmemory: '48mb' })
  onTestFinished(() => redis[Symbol.asyncDispose]())
  const {
    producer,
    start,
    rows,
    ended,
    env,
    prefix,
    redis: inspector,
  } = await setupSystem({ redisUrl: redis.url })
  await publishCatalogue(inspector, prefix, [
    {
      ...JOBS.quick,
      attempts: 3,
      backoff: { type: 'exponential', delayMs: 1, maxDelayMs: 1, jitter: 0 },
      timeoutMs: 1_000,
      payloadSchema: {},
    },
  ])
  const filler = 'x'.repeat(2_000)
  const accepted: string[] = []
  const fill = async (): Promise<never> => {
    for (let n = 0; ; n += 1) accepted.push(await producer.enqueue(JOBS.quick, { n, filler }))
  }
  await expect(fill()).rejects.toThrow(TryLaterError)
  expect(accepted.length).toBeGreaterThan(100)

  const api = start('api')
  await api.ready
  const answer = await fetch(`http://127.0.0.1:${api.port}/api/v1/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${env.JADWAL_ADMIN_TOKEN}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ job: JOBS.quick.name, payload: { n: 1 } }),
  })
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).not.toBeNull()
  expect(await answer.text()).toContain('try again later')

  await Promise.all([start('worker').ready, start('recorder').ready])
  await ended(accepted.length, 60_000)
  expect(checkRuns(accepted, await rows())).toMatchObject({
    missing: [],
    doubled: [],
    unexpected: [],
  })
  await eventually(async () => accepted.push(await producer.enqueue(JOBS.quick, { n: 0 })), {
    timeoutMs: 20_000,
  })
  await ended(accepted.length, 30_000)
})
