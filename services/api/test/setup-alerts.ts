import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { putAlertSetting, recordFacts } from '@jadwal/db'
import { AlertChannelSpec, AlertRuleSpec, AlertSilenceSpec, systemClock } from '@jadwal/domain'
import { createProducer, keys, openRedis, producerConnection } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import { createTestDatabase } from '@jadwal/testkit'
import { inject } from 'vitest'
import { AlertEvaluator, type AlertEvaluatorDeps } from '../src/alerts/alert-evaluator.ts'

export interface SentMessage {
  id: string
  job: string
  channel: string
  event: string
  rule: string
  title: string
  count: number
}

/** An evaluator whose time is moved by hand, with one rule `r` and one channel `ops`, on a real Redis and Postgres. */
export async function setupAlerts(rule: object, ofChannel: object = {}) {
  const database = await createTestDatabase(inject('postgresUrl'))
  const { db } = database
  const prefix = `alerts-${randomBytes(4).toString('hex')}`
  const url = inject('redisUrl')
  const redis = openRedis(producerConnection(url), () => undefined)
  if (redis.status !== 'ready') await once(redis, 'ready')
  const producer = createProducer({ url, prefix, onError: () => undefined, isForAlerts: true })
  const time = { ms: systemClock.now().getTime() }
  const put = async (table: 'alert_rules' | 'alert_channels', name: string, spec: object) =>
    await putAlertSetting(db, table, { name, make: () => ({ spec, author: 'test' }) })
  const setRule = (spec: object, name = 'r') => put('alert_rules', name, AlertRuleSpec.parse(spec))
  const setChannel = (spec: object, name = 'ops') =>
    put('alert_channels', name, AlertChannelSpec.parse(spec))
  await db.deleteFrom('alert_rules').execute()
  await setRule(rule)
  await setChannel({ kind: 'slack', url: 'http://127.0.0.1:9/', default: true, ...ofChannel })
  const evaluator = (more: Partial<AlertEvaluatorDeps> = {}) =>
    new AlertEvaluator({
      redis,
      prefix,
      db,
      producer,
      clock: systemClock,
      log: createLogger('alerts', 'silent'),
      publicUrl: 'https://jobs.example.com',
      gatherMs: 10_000,
      nowMs: async () => time.ms,
      ...more,
    })
  const only = evaluator()
  /** Moves time on and judges everything. */
  const after = async (seconds: number, by: AlertEvaluator = only): Promise<void> => {
    time.ms += seconds * 1_000
    await by.look()
    await by.round()
  }
  const sent = async (): Promise<SentMessage[]> => {
    const ids = await redis.lrange(keys.bullKey(prefix, 'alerts', 'wait'), 0, -1)
    const messages = await Promise.all(
      ids.toReversed().map(async (id) => {
        const [name, data] = await redis.hmget(keys.bullKey(prefix, 'alerts', id), 'name', 'data')
        const { channel, message } = JSON.parse(data ?? '{}').payload
        const { event, rule: of, title, count } = message
        return { id, job: name ?? '', channel, event, rule: of, title, count }
      }),
    )
    return messages
  }
  const silence = async (name: string, spec: object): Promise<void> => {
    const parsed = AlertSilenceSpec.parse(spec)
    const until = new Date(parsed.until)
    const make = () => ({ spec: parsed, author: 'test', until })
    await putAlertSetting(db, 'alert_silences', { name, make })
  }
  return {
    db,
    databaseName: database.name,
    redis,
    prefix,
    time,
    evaluator,
    after,
    sent,
    events: async () => (await sent()).map(({ event }) => event),
    setRule,
    setChannel,
    silence,
    iso: (seconds = 0) => new Date(time.ms + seconds * 1_000).toISOString(),
    record: async (...facts: object[]) => {
      await recordFacts(
        db,
        facts.map((fact) => JSON.stringify(fact)),
      )
    },
    async [Symbol.asyncDispose]() {
      await producer.close()
      redis.disconnect()
      await database[Symbol.asyncDispose]()
    },
  }
}
