import { randomBytes } from 'node:crypto'
import { type Fuse, newRunId, systemClock } from '@jadwal/domain'
import { keys, openCorkedRedis, runMessageOptions, workerConnection } from '@jadwal/queue'
import { Queue, Worker } from 'bullmq'
import { fuseScripts, fuseText } from '../src/fuse-script.ts'

export const QUEUE = 'partners'
export const JOB = 'partner.call'
export const FUSE: Fuse = { failureRate: 0.5, minAttempts: 4, windowMs: 60_000, openMs: 600_000 }

/** A message that a worker has in hand; `token` is its holder's mark. */
export interface InHand {
  id: string
  token: string
}

/** One queue with a fuse on a real Redis, whose messages a test takes and ends by hand. */
export function openFuseBench(url: string, fuse: Partial<Fuse> = {}) {
  const prefix = `t${randomBytes(4).toString('hex')}`
  const redis = openCorkedRedis(workerConnection(url), () => undefined)
  const other = openCorkedRedis(workerConnection(url), () => undefined)
  const bull = { connection: redis, prefix: keys.bullPrefix(prefix, QUEUE) }
  const queue = new Queue(QUEUE, bull)
  const worker = new Worker(QUEUE, null, { ...bull, lockDuration: 60_000, skipStalledCheck: true })
  queue.on('error', () => undefined)
  worker.on('error', () => undefined)
  const text = fuseText({ name: JOB, queue: QUEUE, fuse: { ...FUSE, ...fuse } })
  const fuseKey = keys.fuseKey(prefix, QUEUE, JOB)
  const probesKey = keys.fuseProbesKey(prefix, QUEUE, JOB)
  const lotKey = keys.parkedKey(prefix, QUEUE, keys.fuseLot(JOB))
  const scripts = fuseScripts(redis, prefix, QUEUE)
  const messageKey = (id: string): string => keys.bullKey(prefix, QUEUE, id)

  const bench = {
    prefix,
    redis,
    queue,
    text,
    fuseKey,
    probesKey,
    scripts,
    /** The same over another connection. */
    others: fuseScripts(other, prefix, QUEUE),
    windowKey: keys.fuseWindowKey(prefix, QUEUE, JOB),
    newsKey: keys.fuseNewsKey(prefix, QUEUE),
    messageKey,
    async add(count: number): Promise<string[]> {
      const nowMs = systemClock.now().getTime()
      const messages = Array.from({ length: count }, () => {
        const jobId = newRunId(nowMs, randomBytes(10))
        const opts = { ...runMessageOptions({ enqueuedAtMs: nowMs }), jobId }
        return { name: JOB, data: { v: 1, payload: {} }, opts }
      })
      await queue.addBulk(messages)
      return messages.map(({ opts }) => opts.jobId)
    },
    /** Takes the next message that waits; undefined when none does. */
    async take(): Promise<InHand | undefined> {
      const token = randomBytes(6).toString('hex')
      const message = await worker.getNextJob(token, { block: false })
      return message ? { id: message.id ?? '', token } : undefined
    },
    /** Takes so many; there must be as many. */
    async takeSome(count: number): Promise<InHand[]> {
      const runs = await Promise.all(Array.from({ length: count }, () => bench.take()))
      return runs.map((run) => {
        if (!run) throw new Error('too few runs wait')
        return run
      })
    },
    /** Takes all that wait, and lets through or parks each. */
    async takeAll(): Promise<InHand[]> {
      const through: InHand[] = []
      for (let run = await bench.take(); run; run = await bench.take())
        if ((await scripts.admit(text, run)).admission === 'go') through.push(run)
      return through
    },
    /** Adds runs that are parked at once; the fuse must be open. */
    async park(count: number): Promise<string[]> {
      const ids = await bench.add(count)
      if ((await bench.takeAll()).length > 0) throw new Error('the fuse is not open')
      return ids
    },
    open: () => scripts.count(text, { good: 0, bad: FUSE.minAttempts }),
    look: () => scripts.look([text]),
    async state(): Promise<string> {
      return (await redis.hget(fuseKey, 'state')) ?? 'closed'
    },
    /** As if the time that the fuse is open were over. */
    async pass(): Promise<void> {
      await redis.hset(fuseKey, 'until', 1)
    },
    /** The attempt of a run that was let through ends so, and its message goes. */
    async end({ id, token }: InHand, sign?: 'good' | 'bad') {
      const word = await scripts.count(text, { good: 0, bad: 0, probes: [{ id, token, sign }] })
      await bench.remove(id)
      return word
    },
    /** Removes the message of a run in hand. */
    async remove(id: string): Promise<void> {
      await redis.del(messageKey(id), `${messageKey(id)}:lock`)
      await redis.lrem(keys.bullKey(prefix, QUEUE, 'active'), 1, id)
    },
    waiting: (): Promise<string[]> =>
      redis.lrange(keys.bullKey(prefix, QUEUE, 'wait'), 0, -1).then((ids) => ids.toReversed()),
    parked: (): Promise<string[]> => redis.lrange(lotKey, 0, -1),
    async [Symbol.asyncDispose]() {
      await Promise.all([worker.close(), queue.close()])
      redis.disconnect()
      other.disconnect()
    },
  }
  return bench
}
