import { randomBytes } from 'node:crypto'
import { recordFacts } from '@jadwal/db'
import { systemClock } from '@jadwal/domain'
import {
  keys,
  openCorkedRedis,
  type RunEnd,
  RunWorker,
  suspectSlot,
  workerConnection,
} from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import type { Answer } from './setup-api.ts'
import { factOf } from './setup-history.ts'
import { setupTicks } from './setup-ticks.ts'

let bench: Awaited<ReturnType<typeof setupTicks>>
beforeAll(async () => {
  bench = await setupTicks()
})
afterAll(async () => bench[Symbol.asyncDispose]())

const PAYLOAD = { to: 'ana@example.com', template: 'bye' }

async function enqueue(more: object = {}): Promise<string> {
  return (await bench.api.post({ job: 'email.send', payload: PAYLOAD, ...more })).body.id
}

const cancel = (id: string): Promise<Answer> =>
  bench.api.ask(`/api/v1/runs/${id}/cancel`, { method: 'POST' })

const stateOf = async (id: string): Promise<string> =>
  (await bench.api.ask(`/api/v1/runs/${id}`)).body.state

/** A worker whose attempts end as the test says. */
function work(execute: (id: string) => Promise<RunEnd>): void {
  const redis = openCorkedRedis(workerConnection(inject('redisUrl')), () => undefined)
  const worker = new RunWorker({
    redis,
    prefix: bench.api.prefix,
    queue: 'emails',
    concurrency: 5,
    lockMs: 30_000,
    clock: systemClock,
    instance: `worker-${randomBytes(2).toString('hex')}`,
    suspects: suspectSlot(),
    payloadRules: () => ({}),
    heardOfCancel: () => false,
    execute: (run) => execute(run.id),
    onEnd: () => undefined,
    lossPolicy: () => 'retry',
    onLost: () => undefined,
    onRenewed: () => undefined,
    onLeftAlone: () => undefined,
    onError: () => undefined,
  })
  worker.start()
  onTestFinished(async () => {
    await worker.close()
    redis.disconnect()
  })
}

test.each([
  ['queued', {}],
  ['delayed', { delayMs: 3_600_000 }],
  ['queued behind others', { priority: 9 }],
])('a run that is %s has ended with the answer', async (_what, more) => {
  const id = await enqueue(more)
  const answer = await cancel(id)
  expect(answer.status).toBe(202)
  expect(answer.body).toEqual({ id, state: 'cancelled' })
  const run = (await bench.api.ask(`/api/v1/runs/${id}`)).body
  expect(run).toMatchObject({ state: 'cancelled', reason: 'cancelled', payload: PAYLOAD })
  expect((await cancel(id)).status).toBe(409)
})

test('a run that waits for an earlier one of its schedule is cancelled, that one goes on', async () => {
  await bench.apply({ held: { cron: '0 3 * * *', payload: PAYLOAD, overlap: 'queue-latest' } })
  const trigger = async (): Promise<string> =>
    (await bench.api.ask('/api/v1/schedules/held/trigger', { method: 'POST' })).body.id
  const [first, held] = [await trigger(), await trigger()]
  expect((await cancel(held)).body.state).toBe('cancelled')
  expect(await stateOf(first)).toBe('queued')
  const unfinished = keys.unfinishedKey(bench.api.prefix, 'emails', await bench.idOf('held'))
  expect(await bench.api.redis.smembers(unfinished)).toEqual([first])
  await cancel(first)
})

test('a run that waits for a retry is cancelled', async () => {
  const error = { name: 'Error', message: 'no route' }
  work(async () => ({ kind: 'retry', error, delayMs: 3_600_000 }))
  const id = await enqueue()
  await eventually(async () => expect(await stateOf(id)).toBe('retrying'))
  expect((await cancel(id)).body).toEqual({ id, state: 'cancelled' })
  expect(await stateOf(id)).toBe('cancelled')
})

test('a run that runs is being cancelled, and marked for its worker', async () => {
  const ends: ((end: RunEnd) => void)[] = []
  work(() => new Promise((resolve) => void ends.push(resolve)))
  const id = await enqueue()
  await eventually(async () => expect(await stateOf(id)).toBe('running'))
  expect((await cancel(id)).body).toEqual({ id, state: 'cancelling' })
  expect(await bench.api.redis.hget(keys.cancelsKey(bench.api.prefix, 'emails'), id)).toBe(
    'cancelled',
  )
  ends[0]?.({ kind: 'cancelled', reason: 'cancelled' })
  await eventually(async () => expect(await stateOf(id)).toBe('cancelled'))
})

test('a run that has ended is no longer cancelled', async () => {
  const fact = factOf('succeeded')
  await recordFacts(bench.db, [JSON.stringify(fact)])
  const refused = await cancel(fact.id)
  expect(refused.status).toBe(409)
  expect(refused.body).toMatchObject({
    type: 'urn:jadwal:problem:run-ended',
    detail: expect.stringContaining('succeeded'),
  })
})

test('a run that Redis knows no more has just ended', async () => {
  const fact = factOf('queued', { attempt: 0, attempt_state: null })
  await recordFacts(bench.db, [JSON.stringify(fact)])
  expect((await cancel(fact.id)).status).toBe(409)
})

test.each(['0190a1b2-0000-7000-8000-000000000000', 'nonsense'])(
  'there is no run %s to cancel',
  async (id) => {
    expect((await cancel(id)).status).toBe(404)
  },
)
