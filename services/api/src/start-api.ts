import { createServer } from 'node:http'
import { askPostgres, openDatabase } from '@jadwal/db'
import {
  cipherOf,
  createDeadLetters,
  createProducer,
  createTrigger,
  keys,
  openRedis,
  producerConnection,
  redisReady,
  subscribe,
} from '@jadwal/queue'
import {
  Lifecycle,
  listen,
  pollLoop,
  rateLimitedErrors,
  type ServiceContext,
  UnavailableError,
} from '@jadwal/runtime'
import { AlertEvaluator } from './alerts/alert-evaluator.ts'
import { createApiMetrics } from './api-metrics.ts'
import { createApp } from './app.ts'
import { AuditTrail } from './audit-trail.ts'
import { createBoard } from './bull-board.ts'
import type { ApiConfig } from './config.ts'
import { EventHub } from './event-hub.ts'
import { QueueSnapshots } from './queue-snapshots.ts'
import { readyCheck } from './ready-check.ts'
import { searchGate } from './search-gate.ts'
import { ShownRuns } from './shown-runs.ts'
import { TokenBook } from './token-book.ts'
import { TokenUses } from './token-uses.ts'

const START_WITHIN_MS = 10_000
const QUERY_TIMEOUT_MS = 5_000
const LOOK_FOR_QUEUES_EACH_MS = 3_000

/** The api's parts, put together. Throws `UnavailableError` when Redis or Postgres does not answer. */
export async function startApi(config: ApiConfig, context: ServiceContext): Promise<Lifecycle> {
  const { log, stop, clock, listening } = context
  const { redisUrl, prefix, database, maxPayloadBytes } = config
  const lifecycle = new Lifecycle(log)
  const onRedisError = rateLimitedErrors(log, 'redis connection failed')

  const redis = openRedis(producerConnection(redisUrl), onRedisError)
  lifecycle.onClose('redis', () => redis.disconnect())
  const cipher = cipherOf(config.encryptionKeys)
  const runs = { prefix, clock, onError: onRedisError, maxPayloadBytes, cipher }
  const producer = createProducer({ url: redisUrl, ...runs })
  lifecycle.onClose('producer', () => producer.close())
  const alertProducer = createProducer({ url: redisUrl, ...runs, isForAlerts: true })
  lifecycle.onClose('producer of alerts', () => alertProducer.close())
  const trigger = createTrigger({ redis, ...runs })
  lifecycle.onClose('trigger', () => trigger.close())
  const deadLetters = createDeadLetters({
    redis,
    prefix,
    clock,
    onError: onRedisError,
    cipher,
  })
  lifecycle.onClose('dead letters', () => deadLetters.close())
  const onError = rateLimitedErrors(log, 'postgres connection failed')
  const db = openDatabase({
    ...database,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onError,
  })
  lifecycle.onClose('postgres', () => db.destroy())

  const reach = {
    redis: () => redisReady(redis, START_WITHIN_MS),
    postgres: () => askPostgres(db),
  }
  await reach.redis().catch((cause: unknown) => {
    throw new UnavailableError({ what: 'Redis', variable: 'REDIS_URL', address: redisUrl, cause })
  })
  await reach.postgres().catch((cause: unknown) => {
    const address = database.url
    throw new UnavailableError({ what: 'Postgres', variable: 'DATABASE_URL', address, cause })
  })

  const snapshots = new QueueSnapshots({ redis, prefix, clock })
  const board = createBoard({
    redis,
    prefix,
    publicUrl: config.publicUrl,
    snapshots,
    onError: onRedisError,
  })
  lifecycle.onClose('board', board.close)
  const lookForQueues = pollLoop(
    async () => {
      await board.refresh()
      return LOOK_FOR_QUEUES_EACH_MS
    },
    { signal: stop, log, name: 'look for queues' },
  )
  lifecycle.onClose('look for queues', () => lookForQueues)

  const events = new EventHub({ redis, redisUrl, prefix, clock, log, most: config.eventStreams })
  const audit = new AuditTrail({ redis, prefix, clock, log })
  lifecycle.onClose('audit', () => audit.close())
  const tokens = new TokenBook({ db, clock, log })
  const tokenUses = new TokenUses({ db, clock })
  lifecycle.onClose('token uses', () => tokenUses.close())
  const subscription = subscribe({
    url: redisUrl,
    channels: { [keys.tokensChangedChannel(prefix)]: () => tokens.changed() },
    onError: onRedisError,
  })
  lifecycle.onClose('subscription', () => subscription.close())
  const alerts = new AlertEvaluator({
    redis,
    prefix,
    db,
    producer: alertProducer,
    clock,
    log,
    publicUrl: config.publicUrl,
  })
  const evaluate = pollLoop(() => alerts.look(), { signal: stop, log, name: 'evaluate alerts' })
  lifecycle.onClose('alerts', async () => {
    await evaluate
    await alerts.close()
  })
  const app = createApp(
    {
      redis,
      prefix,
      publicUrl: config.publicUrl,
      db,
      searching: searchGate(database.max),
      producer,
      alertProducer,
      trigger,
      maxPayloadBytes,
      deadLetters,
      snapshots,
      shownRuns: new ShownRuns({ redis, prefix, clock, cipher }),
      events,
      audit,
      tokens,
      tokenUses,
      clock,
      log,
      ready: readyCheck({ Redis: () => redis.ping(), Postgres: () => reach.postgres() }, log),
      metrics: createApiMetrics(snapshots, log),
      board: board.handler,
    },
    config,
  )
  // How long a body may take is for `limitTime`: one that is a stream takes as long as it goes on.
  const server = createServer({ requestTimeout: 0, headersTimeout: 10_000 }, app)
  const { port, close } = await listen(server, config)
  lifecycle.onClose('http', close)
  // Before it: streams have no end of their own.
  lifecycle.onClose('streams of events', () => events.close())
  listening(port)
  if (config.adminToken === undefined) log.warn('anybody on this machine may use the api')
  return lifecycle
}
