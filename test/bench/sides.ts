import { createProducer, keys } from '@jadwal/queue'
import { type ServiceProcess, spawnMain, spawnService } from '@jadwal/testkit'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { bundle } from '../support/bundle-jobs.ts'

const QUEUE = 'bench'
const JOB = { name: 'bench.noop', queue: QUEUE }
/** Messages that bare BullMQ gets in one call: as many as Jadwal puts in one pipeline. */
const BULK = 500

export interface SideOptions {
  redisUrl: string
  databaseUrl: string
  concurrency: number
}

/** One round's queue and the processes that work it off. */
export interface Side extends AsyncDisposable {
  readonly processes: Readonly<Record<string, ServiceProcess>>
  enqueue(n: number): Promise<unknown>
  enqueueMany(count: number): Promise<unknown>
  /** Holds the queue, so that it can be filled before the work begins. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Whether all is done that was enqueued: on Jadwal's side, whether it is in Postgres. */
  isDone(): Promise<boolean>
}

export type OpenSide = (options: SideOptions, name: string) => Promise<Side>

/** A worker and a recorder as in production; done is what is committed, as nothing else leaves the outbox. */
export const openJadwal: OpenSide = async (options, prefix) => {
  const { redisUrl, databaseUrl, concurrency } = options
  const env = {
    REDIS_URL: redisUrl,
    DATABASE_URL: databaseUrl,
    JADWAL_PREFIX: prefix,
    JADWAL_LOG_LEVEL: 'info',
    JADWAL_JOBS: await bundle('support/bench-jobs.ts'),
    JADWAL_QUEUES: `${QUEUE}:${concurrency}`,
  }
  const worker = spawnService('worker', env)
  await worker.ready
  const recorder = spawnService('recorder', env)
  await recorder.ready
  const producer = createProducer({ url: redisUrl, prefix, onError: fail })
  const bull = openQueue(redisUrl, QUEUE, keys.bullPrefix(prefix, QUEUE))
  return {
    processes: { worker, recorder },
    enqueue: (n) => producer.enqueue(JOB, { n }),
    enqueueMany: (count) => producer.enqueueMany(JOB, payloads(count)),
    pause: () => bull.queue.pause(),
    resume: () => bull.queue.resume(),
    isDone: () => bull.isEmpty(keys.outboxKey(prefix, QUEUE)),
    async [Symbol.asyncDispose]() {
      await producer.close()
      await bull.close()
      await Promise.all([worker.stop(), recorder.stop()])
    },
  }
}

/** A BullMQ worker that removes what it has done; done is what is gone. */
export const openBare: OpenSide = async ({ redisUrl, concurrency }, name) => {
  const bull = openQueue(redisUrl, name, 'bull')
  const worker = spawnMain(await bundle('bench/bare-worker.ts'), {}, [
    redisUrl,
    name,
    String(concurrency),
  ])
  await worker.ready
  const opts = { removeOnComplete: true }
  return {
    processes: { worker },
    enqueue: (n) => bull.queue.add(JOB.name, { n }, opts),
    async enqueueMany(count) {
      for (let at = 0; at < count; at += BULK) {
        const length = Math.min(BULK, count - at)
        await bull.queue.addBulk(
          Array.from({ length }, (_, n) => ({ name: JOB.name, data: { n: at + n }, opts })),
        )
      }
    },
    pause: () => bull.queue.pause(),
    resume: () => bull.queue.resume(),
    isDone: () => bull.isEmpty(),
    async [Symbol.asyncDispose]() {
      await bull.close()
      await worker.kill()
    },
  }
}

function openQueue(redisUrl: string, name: string, prefix: string) {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null })
  const queue = new Queue(name, { connection: redis, prefix })
  const key = (part: string): string => `${prefix}:${name}:${part}`
  return {
    queue,
    /** In this order: a message leaves `active` only after its outcome is in the outbox. */
    async isEmpty(outbox = key('no-outbox')): Promise<boolean> {
      const waiting = await redis.llen(key('wait'))
      const active = await redis.llen(key('active'))
      return waiting + active + (await redis.xlen(outbox)) === 0
    },
    async close(): Promise<void> {
      await queue.close()
      redis.disconnect()
    },
  }
}

function payloads(count: number): { n: number }[] {
  return Array.from({ length: count }, (_, n) => ({ n }))
}

function fail(error: Error): never {
  throw error
}
