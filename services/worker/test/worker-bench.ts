import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { keys, openCorkedRedis, runMessageOptions, workerConnection } from '@jadwal/queue'
import { newRunId, systemClock } from '@jadwal/domain'
import { createLogger, type Lifecycle } from '@jadwal/runtime'
import { eventually, type ServiceProcess, spawnService } from '@jadwal/testkit'
import { Queue } from 'bullmq'
import { readConfig } from '../src/config.ts'
import { startWorker } from '../src/start-worker.ts'

const TEST_JOBS = fileURLToPath(new URL('fixtures/test-jobs.mjs', import.meta.url))
const QUEUE = 'tests'

type Fact = Record<string, unknown>

/** Workers that serve the jobs in fixtures/ on a real Redis, under a prefix of its own. */
export function openBench(url: string) {
  const prefix = `t${randomBytes(4).toString('hex')}`
  const redis = openCorkedRedis(workerConnection(url), () => undefined)
  const bull = { connection: redis, prefix: keys.bullPrefix(prefix, QUEUE) }
  const queue = new Queue(QUEUE, bull)
  const dead = new Queue(keys.deadQueueName(QUEUE), bull)
  for (const each of [queue, dead]) each.on('error', () => undefined)
  const opened: (() => Promise<unknown>)[] = []

  /** The facts of a run, or of all, oldest first. */
  async function facts(id?: string): Promise<Fact[]> {
    const entries = await redis.xrange(keys.outboxKey(prefix, QUEUE), '-', '+')
    return entries
      .flatMap(([, fields]) => (fields[1] ?? '').split('\n'))
      .map((line) => JSON.parse(line) as Fact)
      .filter((fact) => id === undefined || fact['id'] === id)
  }

  function envOf(env: Record<string, string>): Record<string, string> {
    return {
      REDIS_URL: url,
      JADWAL_PREFIX: prefix,
      JADWAL_JOBS: TEST_JOBS,
      JADWAL_HOST: '127.0.0.1',
      JADWAL_PORT: '0',
      JADWAL_GRACE_MS: '2000',
      ...env,
    }
  }

  async function usedBytes(): Promise<number> {
    return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
  }

  return {
    prefix,
    redis,
    queue,
    dead,
    facts,
    async add(job: string, payload: unknown = {}, data: object = {}): Promise<string> {
      const nowMs = systemClock.now().getTime()
      const id = newRunId(nowMs, randomBytes(10))
      const opts = { ...runMessageOptions({ enqueuedAtMs: nowMs }), jobId: id }
      await queue.add(job, { v: 1, payload, ...data }, opts)
      return id
    },
    /** The last fact of a run, once it is in that state. */
    async reached(id: string, state: string): Promise<Fact> {
      return eventually(async () => {
        const last = (await facts(id)).at(-1)
        if (last?.['state'] !== state) throw new Error(`${id} is ${JSON.stringify(last)}`)
        return last
      })
    },
    /** Puts some 4 MB of facts into a queue's outbox. */
    async fillOutbox(name: string): Promise<void> {
      const pipeline = redis.pipeline()
      const filler = JSON.stringify({ filler: 'x'.repeat(4_000) })
      for (let i = 0; i < 1_000; i += 1)
        pipeline.xadd(keys.outboxKey(prefix, name), '*', 'facts', filler)
      await pipeline.exec()
    },
    /** Sets maxmemory so that what is used now is this part of it. */
    async setMemoryUse(part: number): Promise<void> {
      await redis.config('SET', 'maxmemory', Math.round((await usedBytes()) / part))
    },
    /** Deletes an outbox, and in the same moment makes what else is used this part of maxmemory. */
    async emptyOutbox(name: string, part: number): Promise<void> {
      const key = keys.outboxKey(prefix, name)
      const otherBytes = (await usedBytes()) - ((await redis.memory('USAGE', key)) ?? 0)
      const limit = Math.round(otherBytes / part)
      await redis.multi().del(key).config('SET', 'maxmemory', limit).exec()
    },
    /** A worker inside this process. Its stop and its hurry are in the hands of the test. */
    async work(env: Record<string, string> = {}) {
      const stop = new AbortController()
      const hurry = new AbortController()
      let port = 0
      const lifecycle: Lifecycle = await startWorker(readConfig(envOf(env)), {
        log: createLogger('worker', 'silent'),
        stop: stop.signal,
        hurry: hurry.signal,
        instance: `test-${randomBytes(2).toString('hex')}`,
        clock: systemClock,
        listening: (taken) => {
          port = taken
        },
        onCrash: () => undefined,
      })
      const close = async (): Promise<void> => {
        stop.abort()
        await lifecycle.close()
      }
      opened.push(close)
      return { port, close, hurry }
    },
    /** A worker that is a process of its own. */
    spawn(env: Record<string, string> = {}): ServiceProcess {
      const worker = spawnService('worker', envOf(env))
      opened.push(async () => worker[Symbol.asyncDispose]())
      return worker
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((close) => close()))
      await Promise.all([queue.close(), dead.close()])
      redis.disconnect()
    },
  }
}
