import { randomBytes } from 'node:crypto'
import { newRunId, type OnLost, type QueueRate, systemClock } from '@jadwal/domain'
import {
  keys,
  openCorkedRedis,
  type RunEnd,
  RunWorker,
  runMessageOptions,
  type StartedRun,
  suspectSlot,
  workerConnection,
} from '@jadwal/queue'
import { Queue } from 'bullmq'

const QUEUE = 'emails'

/** What a test needs to watch runs go through one queue on a real Redis: nothing is shared with other tests. */
export function openBench(url: string) {
  const prefix = `t${randomBytes(4).toString('hex')}`
  const redis = openCorkedRedis(workerConnection(url), () => undefined)
  const bull = { connection: redis, prefix: keys.bullPrefix(prefix, QUEUE) }
  const queue = new Queue(QUEUE, bull)
  const dead = new Queue(keys.deadQueueName(QUEUE), bull)
  for (const each of [queue, dead]) each.on('error', () => undefined)
  const workers: RunWorker[] = []
  const suspects = suspectSlot()
  const ends: { run: StartedRun; end: RunEnd; counted: boolean }[] = []
  const lost: string[] = []
  const leftAlone: string[] = []
  const errors: Error[] = []
  /** What the worker has heard of runs that are to be cancelled. */
  const cancels = new Set<string>()
  /** As they were at the call: BullMQ counts on afterwards. */
  const calls: Pick<StartedRun, 'id' | 'attempt' | 'failures' | 'startedAtMs' | 'lostAttempts'>[] =
    []

  return {
    prefix,
    redis,
    queue,
    dead,
    ends,
    lost,
    leftAlone,
    errors,
    cancels,
    calls,
    /** Adds a run's message; `data` goes over its parts, `kept` into its hash. Returns its id. */
    async add(data: object = {}, kept: object = {}): Promise<string> {
      const nowMs = systemClock.now().getTime()
      const id = newRunId(nowMs, randomBytes(10))
      const opts = { ...runMessageOptions({ enqueuedAtMs: nowMs }), jobId: id }
      const message = { v: 1, payload: { to: 'a@b.c' }, ...data }
      if (Object.keys(kept).length === 0) await queue.add('email.send', message, opts)
      else {
        // Not taken before all of it is there.
        await queue.pause()
        await queue.add('email.send', message, opts)
        await redis.hset(keys.bullKey(prefix, QUEUE, id), kept)
        await queue.resume()
      }
      return id
    },
    /** Starts a worker whose attempts end as `execute` says. */
    work(
      execute: (run: StartedRun) => RunEnd | Promise<RunEnd>,
      options: {
        lockMs?: number
        concurrency?: number
        lossPolicy?: OnLost
        rate?: QueueRate
      } = {},
    ): RunWorker {
      const worker = new RunWorker({
        payloadRules: () => ({}),
        heardOfCancel: (id) => cancels.has(id),
        redis,
        prefix,
        queue: QUEUE,
        concurrency: options.concurrency ?? 5,
        rate: options.rate,
        lockMs: options.lockMs ?? 30_000,
        clock: systemClock,
        instance: 'worker-1',
        suspects,
        execute: async (run) => {
          const { id, attempt, failures, startedAtMs, lostAttempts } = run
          calls.push({ id, attempt, failures, startedAtMs, lostAttempts })
          return execute(run)
        },
        onEnd: (run, end, counted) => void ends.push({ run, end, counted }),
        lossPolicy: () => options.lossPolicy ?? 'retry',
        onLost: (ids) => void lost.push(...ids),
        onRenewed: () => undefined,
        onLeftAlone: (id) => void leftAlone.push(id),
        onError: (error) => void errors.push(error),
      })
      workers.push(worker)
      worker.start()
      return worker
    },
    messageKey: (id: string): string => keys.bullKey(prefix, QUEUE, id),
    failedKey: keys.bullKey(prefix, QUEUE, 'failed'),
    /** All facts in the outbox, oldest first. */
    async facts(): Promise<Record<string, unknown>[]> {
      const entries = await redis.xrange(keys.outboxKey(prefix, QUEUE), '-', '+')
      return entries
        .flatMap(([, fields]) => (fields[1] ?? '').split('\n'))
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker.close()))
      await Promise.all([queue.close(), dead.close()])
      redis.disconnect()
    },
  }
}
