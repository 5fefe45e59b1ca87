import { randomBytes } from 'node:crypto'
import { newRunId, type RunMessage, systemClock } from '@jadwal/domain'
import {
  createDeadLetters,
  deadLetterFields,
  keys,
  openRedis,
  producerConnection,
  type RedriveRequest,
  redisReady,
} from '@jadwal/queue'
import { Queue } from 'bullmq'
import { inject, onTestFinished } from 'vitest'

export const QUEUE = 'emails'
export const JOB = 'email.send'

/** Dead letters in a Redis with a prefix of its own. */
export async function setup() {
  const prefix = `letters-${randomBytes(4).toString('hex')}`
  const open = async () => {
    const redis = openRedis(producerConnection(inject('redisUrl')), () => undefined)
    await redisReady(redis, 10_000)
    const letters = createDeadLetters({ redis, prefix, clock: systemClock, onError: () => {} })
    onTestFinished(async () => {
      await letters.close()
      redis.disconnect()
    })
    return { redis, letters }
  }
  const { redis, letters } = await open()
  const bull = (queue: string): Queue => {
    const opened = new Queue(queue, {
      connection: redis,
      prefix: keys.bullPrefix(prefix, queue),
      skipMetasUpdate: true,
    })
    onTestFinished(() => opened.close())
    return opened
  }
  /** A dead letter as a worker writes it. */
  const bury = async (about: Partial<RunMessage> = {}, id = anId()): Promise<string> => {
    const data = { v: 1, payload: { n: 1 }, ...about }
    const at = systemClock.now().toISOString()
    const death = { reason: 'failed', attempt: 3, at } as const
    const fields = { job: JOB, data, enqueuedAtMs: 0, failures: 3, priority: 7, death }
    await redis.hset(keys.deadKey(prefix, QUEUE, id), deadLetterFields(fields))
    await redis.lpush(keys.deadKey(prefix, QUEUE, 'wait'), id)
    return id
  }
  const buried = async (): Promise<string[]> =>
    await redis.lrange(keys.deadKey(prefix, QUEUE, 'wait'), 0, -1)
  const waiting = async (queue = QUEUE): Promise<string[]> => {
    const found = await bull(queue).getJobs(['waiting', 'prioritized'])
    return found.map(({ id }) => id ?? '')
  }
  // oxlint-disable-next-line typescript/no-explicit-any -- facts of every kind
  const facts = async (queue = QUEUE): Promise<any[]> =>
    (await redis.xrange(keys.outboxKey(prefix, queue), '-', '+')).flatMap(([, [, text = '']]) =>
      text.split('\n').map((line) => JSON.parse(line) as unknown),
    )
  return { prefix, redis, letters, open, bull, bury, buried, waiting, facts }
}

export const at = (id: string) => ({ id, queue: QUEUE })

export function anId(): string {
  return newRunId(systemClock.now().getTime(), randomBytes(10))
}

export const from = (queue: string | undefined): Omit<RedriveRequest, 'nowMs'> => ({
  by: 'ana',
  jobOf: () => (queue === undefined ? undefined : { queue }),
})
export const REQUEST = from(QUEUE)
