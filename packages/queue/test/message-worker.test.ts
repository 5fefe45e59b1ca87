import { randomUUID } from 'node:crypto'
import { openCorkedRedis, workerConnection } from '@jadwal/queue'
import { expect, inject, onTestFinished, test } from 'vitest'
import { MessageWorker } from '../src/message-worker.ts'

const never = new Promise<void>(() => {})

/** A worker that takes nothing, and the locks of messages that a test puts into its hand. */
function setup() {
  const redis = openCorkedRedis(workerConnection(inject('redisUrl')), () => undefined)
  const connection = { connection: redis, autorun: false, skipStalledCheck: true }
  const worker = new MessageWorker('any', async () => {}, connection)
  worker.on('error', () => undefined)
  onTestFinished(async () => {
    await worker.close()
    redis.disconnect()
  })
  const lockKey = `lock-${randomUUID()}`
  return { redis, worker, lockKey, lost: () => worker.lostOf(redis, new Map([['run', lockKey]])) }
}

test('a lock that has expired, or is of another worker, is lost', async () => {
  const { redis, worker, lockKey, lost } = setup()
  void worker.hold('run', 'mine', never)
  expect(await lost()).toEqual(['run'])
  await redis.set(lockKey, 'another', 'PX', 60_000)
  expect(await lost()).toEqual(['run'])
})

test('a lock whose message was given back is not lost, though the answer is still on its way', async () => {
  const { redis, worker, lockKey, lost } = setup()
  await redis.set(lockKey, 'mine', 'PX', 60_000)
  const giveBack = async (): Promise<void> => void (await redis.del(lockKey))
  const done = worker.hold('run', 'mine', giveBack())
  expect(await lost()).toEqual([])
  await done
})

test('a lock is not lost when its message has come back to the worker, by whichever mark', async () => {
  const { redis, worker, lockKey, lost } = setup()
  void worker.hold('run', 'first', never)
  const asked = lost()
  void worker.hold('run', 'second', never)
  expect(await asked).toEqual([])
  await redis.set(lockKey, 'second', 'PX', 60_000)
  expect(await lost()).toEqual([])
})

test('a wait that begins while the worker closes holds it up no longer', async () => {
  const { worker } = setup()
  const closed = worker.close()
  await expect(worker.delay(3_600_000)).resolves.toBeUndefined()
  await closed
})
