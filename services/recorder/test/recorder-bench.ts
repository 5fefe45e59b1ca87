import { randomUUID } from 'node:crypto'
import { openDatabase } from '@jadwal/db'
import { newRunId, revision, type RunFact } from '@jadwal/domain'
import { keys, openRedis, OutboxReader, registerQueues, workerConnection } from '@jadwal/queue'
import { createLogger, createRegistry } from '@jadwal/runtime'
import { createTestDatabase, eventually } from '@jadwal/testkit'
import { expect, inject, onTestFinished } from 'vitest'
import { RecorderMetrics } from '../src/recorder-metrics.ts'
import { Recording } from '../src/recording.ts'
import { RunTeller } from '../src/tell-runs.ts'

const QUEUE = 'emails'
const NOON = Date.parse('2026-09-01T12:00:00.000Z')

/** A database, a prefix, and as many recorders as a test starts; all closed with the test. */
export async function setup(servers: { redisUrl?: string; databaseUrl?: string } = {}) {
  const url = servers.redisUrl ?? inject('redisUrl')
  const database = await createTestDatabase(servers.databaseUrl ?? inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const prefix = `recorder-${randomUUID()}`
  const redis = openRedis(workerConnection(url), () => {})
  onTestFinished(() => redis.disconnect())
  const outbox = keys.outboxKey(prefix, QUEUE)
  await registerQueues(redis, prefix, [QUEUE])

  const openReader = (consumer: string) => {
    const blocking = openRedis(workerConnection(url), () => {})
    onTestFinished(() => blocking.disconnect())
    return { blocking, reader: new OutboxReader({ redis, blocking, prefix, consumer }) }
  }
  const startRecorder = async (times = { claimAfterMs: 30_000, claimEachMs: 50 }) => {
    const { reader, blocking } = openReader(`recorder-${randomUUID()}`)
    await reader.findOutboxes()
    const registry = createRegistry()
    const metrics = new RecorderMetrics(registry)
    const log = createLogger('recorder', 'silent')
    const db = openDatabase({ url: database.url, schema: 'jadwal', max: 4 })
    const outages: unknown[] = []
    const waiting = (error: unknown): void => void outages.push(error)
    const hurry = new AbortController()
    const teller = new RunTeller({ redis, prefix, onError: waiting })
    const deps = { db, reader, teller, metrics, log, waiting }
    const recording = new Recording(deps, times, hurry.signal)
    const stop = () => recording.finish(30_000, () => {})
    onTestFinished(async () => {
      hurry.abort()
      await recording.finish(0, () => {
        redis.disconnect()
        blocking.disconnect()
      })
      await db.destroy()
    })
    const metric = async (name: string): Promise<number> => {
      const values = (await registry.getSingleMetric(name)?.get())?.values ?? []
      return values.reduce((sum, { value }) => sum + value, 0)
    }
    return { outages, stop, metric }
  }
  const put = async (...facts: object[]): Promise<void> => {
    await redis.xadd(outbox, '*', 'facts', facts.map((fact) => JSON.stringify(fact)).join('\n'))
  }
  const recorded = async (): Promise<string[]> => {
    const rows = await database.db.selectFrom('runs').select('id').orderBy('id').execute()
    return rows.map(({ id }) => id)
  }
  const everythingRecorded = (ids: readonly string[], timeoutMs = 30_000): Promise<void> =>
    eventually(
      async () => {
        expect(await recorded()).toEqual([...ids].toSorted())
        expect(await redis.xlen(outbox)).toBe(0)
      },
      { timeoutMs },
    )
  return {
    database,
    redis,
    prefix,
    outbox,
    openReader,
    startRecorder,
    put,
    recorded,
    everythingRecorded,
  }
}

let made = 0

/** A fact of a run that succeeded; each has a later id. */
export function runFact(fact: Partial<RunFact> = {}): RunFact {
  made += 1
  return {
    kind: 'run',
    id: newRunId(NOON + made, crypto.getRandomValues(new Uint8Array(10))),
    revision: revision(1, 'succeeded'),
    state: 'succeeded',
    job: 'email.send',
    queue: QUEUE,
    payload: {},
    enqueued_at: new Date(NOON).toISOString(),
    attempt: 1,
    finished_at: new Date(NOON + 1_000).toISOString(),
    result: null,
    ...fact,
  }
}

export function runFacts(count: number): RunFact[] {
  return Array.from({ length: count }, () => runFact())
}
