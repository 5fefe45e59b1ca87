import { randomBytes, randomUUID } from 'node:crypto'
import {
  applySchedules,
  findRedrive,
  insertRedrive,
  recordFacts,
  type RedriveRow,
} from '@jadwal/db'
import {
  newRunId,
  revision,
  type RunFact,
  type ScheduleSpecInput,
  systemClock,
} from '@jadwal/domain'
import { createDeadLetters, keys, openRedis, producerConnection, RedisClock } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { createTestDatabase } from '@jadwal/testkit'
import { inject, onTestFinished } from 'vitest'
import { Redrives } from '../src/redrives.ts'

const QUEUE = 'emails'
export const CAUSE = 'aaaaaaaaaaaaaaaa'
export const NOW = systemClock.now().getTime()

/** Redrives over a history and a Redis of their own; the letters are lost in Redis. */
export async function setup() {
  const prefix = `redrives-${randomBytes(4).toString('hex')}`
  const redis = openRedis(producerConnection(inject('redisUrl')), () => undefined)
  const database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  const deadLetters = createDeadLetters({ redis, prefix, clock: systemClock, onError: () => {} })
  onTestFinished(async () => {
    await deadLetters.close()
    redis.disconnect()
    await database[Symbol.asyncDispose]()
  })
  const redisClock = new RedisClock(redis, systemClock)
  await redisClock.measure()
  await redis.sadd(keys.queuesKey(prefix), QUEUE)
  const served = new Map([['email.send', QUEUE]])
  const jobOf = (name: string) => {
    const queue = served.get(name)
    return queue === undefined ? undefined : { queue }
  }
  const lead = (): Redrives =>
    new Redrives({
      db,
      redis,
      redisClock,
      prefix,
      catalogue: { job: jobOf, names: () => [...served.keys()] },
      deadLetters,
      log: createLogger('scheduler', 'silent', 'test'),
      redisIsFull: () => false,
    })
  const record = (facts: readonly object[]) =>
    recordFacts(
      db,
      facts.map((fact) => JSON.stringify(fact)),
    )
  /** So many dead runs, each dead later than the one before, which Redis has lost. */
  const die = async (count: number, about: Partial<RunFact> = {}): Promise<string[]> => {
    const facts = Array.from({ length: count }, (_, n) => deadFact(n - 60_000, about))
    await record(facts)
    return facts.map(({ id }) => id)
  }
  const outbox = keys.outboxKey(prefix, QUEUE)
  /** Does what a recorder does. */
  const recordOutbox = async (): Promise<void> => {
    const entries = await redis.xrange(outbox, '-', '+')
    const lines = entries.flatMap(([, [, text = '']]) => text.split('\n'))
    if (lines.length === 0) return
    await recordFacts(db, lines)
    await redis.xdel(outbox, ...entries.map(([id]) => id))
  }
  const redrive = async (fields: Partial<RedriveRow> = {}): Promise<string> => {
    const id = randomUUID()
    await insertRedrive(db, {
      id,
      state: 'running',
      rate: null,
      canary: false,
      letters: 0,
      author: 'ana',
      created_at: new Date(NOW),
      ...fields,
      filter: JSON.stringify(fields.filter ?? {}),
    })
    return id
  }
  const waiting = async (): Promise<string[]> =>
    (await redis.lrange(keys.bullKey(prefix, QUEUE, 'wait'), 0, -1)).toReversed()
  /** Ends all runs that wait so many ms after the redrive was asked for: in success, or dead of the cause. */
  const finish = async (fingerprint?: string, afterMs = 5_000): Promise<number> => {
    await recordOutbox()
    const ids = await waiting()
    const olds = await db.selectFrom('settled_letters').selectAll().execute()
    await record(
      ids.map((id) => ({
        ...deadFact(afterMs),
        id,
        redrive_of: olds.find((row) => row.redriven_as === id)?.run_id,
        fingerprint,
        ...(fingerprint === undefined ? { state: 'succeeded', reason: null } : {}),
      })),
    )
    await redis.del(keys.bullKey(prefix, QUEUE, 'wait'))
    return ids.length
  }
  /** Makes a schedule, and gives its id. */
  const schedule = async (rule: Partial<ScheduleSpecInput>): Promise<string> => {
    const schedules = [{ name: 'hourly', input: { job: 'email.send', every: '1h', ...rule } }]
    await applySchedules(db, { schedules, prune: false, source: 'api', author: 'ana' })
    return (await db.selectFrom('schedules').select('id').executeTakeFirstOrThrow()).id
  }
  /** What the message of a run carries. */
  const message = async (id: string): Promise<unknown> =>
    JSON.parse((await redis.hget(keys.bullKey(prefix, QUEUE, id), 'data')) ?? 'null')
  const find = async (id: string) => await findRedrive(db, id)
  return {
    schedule,
    message,
    db,
    redis,
    redisClock,
    outbox,
    lead,
    die,
    record,
    recordOutbox,
    redrive,
    waiting,
    finish,
    find,
  }
}

export function deadFact(afterMs: number, about: Partial<RunFact> = {}): RunFact {
  const at = new Date(NOW + afterMs).toISOString()
  return {
    kind: 'run',
    id: newRunId(NOW, randomBytes(10)),
    revision: revision(3, 'dead'),
    state: 'dead',
    reason: 'failed',
    job: 'email.send',
    queue: QUEUE,
    payload: {},
    enqueued_at: at,
    finished_at: at,
    attempt: 3,
    fingerprint: CAUSE,
    ...about,
  }
}
