import { randomBytes, randomUUID } from 'node:crypto'
import { recordFacts } from '@jadwal/db'
import {
  type JobDescription,
  newRunId,
  type OnLost,
  type OverlapPolicy,
  type RunFact,
  type Schedule,
  systemClock,
} from '@jadwal/domain'
import {
  keys,
  openCorkedRedis,
  RedisClock,
  RunWorker,
  suspectSlot,
  workerConnection,
} from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { createTestDatabase } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { inject, onTestFinished } from 'vitest'
import { LostRuns } from '../src/lost-runs.ts'

const MAIL: JobDescription = {
  name: 'mail',
  queue: 'mails',
  attempts: 3,
  backoff: { type: 'exponential', delayMs: 1, maxDelayMs: 1, jitter: 0 },
  timeoutMs: 60_000,
  payloadSchema: {},
}

/** The net under lost runs on real servers, for a job of which the catalogue says so. */
export async function setupLostRuns(
  onLost: OnLost | 'unknown-job' = 'dead-letter',
  overlap: OverlapPolicy = 'skip',
) {
  const prefix = `lost-${randomUUID()}`
  const redis = new Redis(inject('redisUrl'))
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(async () => {
    redis.disconnect()
    await database[Symbol.asyncDispose]()
  })
  const redisClock = new RedisClock(redis, systemClock)
  await redisClock.measure()
  const { db } = database
  const schedule = { versions: [{ spec: { overlap, attempts: 7 } }] } as unknown as Schedule
  const lostRuns = new LostRuns({
    db,
    redis,
    redisClock,
    prefix,
    catalogue: { job: () => (onLost === 'unknown-job' ? undefined : { ...MAIL, onLost }) },
    book: { get: () => schedule },
    log: createLogger('scheduler', 'silent', 'test'),
  })
  /** A run of ten minutes ago that the history has as queued. */
  const factOf = (more: Partial<RunFact> = {}): RunFact => {
    const atMs = redisClock.nowMs() - 600_000
    const id = newRunId(atMs, randomBytes(10))
    const fact: RunFact = {
      kind: 'run',
      id,
      revision: 0,
      state: 'queued',
      job: 'mail',
      queue: 'mails',
      payload: { to: 'a' },
      result: null,
      enqueued_at: new Date(atMs).toISOString(),
      attempt: 0,
      ...more,
    }
    return fact
  }
  const queued = async (more: Partial<RunFact> = {}): Promise<string> => {
    const fact = factOf(more)
    await recordFacts(db, [JSON.stringify(fact)])
    return fact.id
  }
  const queuedMany = async (count: number): Promise<void> => {
    const lines = Array.from({ length: count }, () => JSON.stringify(factOf()))
    await recordFacts(db, lines)
  }
  const outbox = keys.outboxKey(prefix, 'mails')
  const facts = async (): Promise<RunFact[]> =>
    (await redis.xrange(outbox, '-', '+'))
      .flatMap(([, fields]) => (fields[1] ?? '').split('\n'))
      .map((line) => JSON.parse(line) as RunFact)
  /** What the recorder would do. */
  const record = async (): Promise<void> => {
    await recordFacts(
      db,
      (await facts()).map((fact) => JSON.stringify(fact)),
    )
    await redis.del(outbox)
  }
  /** The attempts that a worker makes, as it gets them. */
  const work = () => {
    const calls: { id: string; attempt: number; failures: number; message: object }[] = []
    const corked = openCorkedRedis(workerConnection(inject('redisUrl')), () => undefined)
    const worker = new RunWorker({
      redis: corked,
      prefix,
      queue: 'mails',
      concurrency: 5,
      lockMs: 30_000,
      clock: systemClock,
      instance: 'worker-1',
      suspects: suspectSlot(),
      payloadRules: () => ({}),
      heardOfCancel: () => false,
      execute: async ({ id, attempt, failures, message }) => {
        calls.push({ id, attempt, failures, message })
        return { kind: 'succeeded' }
      },
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
      corked.disconnect()
    })
    return calls
  }
  return { lostRuns, queued, queuedMany, redis, prefix, outbox, facts, record, work, db }
}
export type LostRunsBench = Awaited<ReturnType<typeof setupLostRuns>>
