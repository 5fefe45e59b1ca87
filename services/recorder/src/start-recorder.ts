import { askPostgres, openDatabase } from '@jadwal/db'
import { openRedis, OutboxReader, redisReady, workerConnection } from '@jadwal/queue'
import {
  createRegistry,
  Lifecycle,
  rateLimitedErrors,
  type ServiceContext,
  startOpsServer,
  UnavailableError,
} from '@jadwal/runtime'
import type { RecorderConfig } from './config.ts'
import { postgresReady } from './postgres-ready.ts'
import { RecorderMetrics } from './recorder-metrics.ts'
import { Recording } from './recording.ts'
import { RunTeller } from './tell-runs.ts'

const START_WITHIN_MS = 10_000
/** No answer for this long, with reads that block for half a second at most: the network swallows it. */
const SOCKET_TIMEOUT_MS = 15_000

/** The composition root of the recorder. */
export async function startRecorder(
  config: RecorderConfig,
  context: ServiceContext,
): Promise<Lifecycle> {
  const { log, instance, clock, hurry } = context
  const { redisUrl, prefix, database } = config
  const lifecycle = new Lifecycle(log)
  const redisErrors = rateLimitedErrors(log, 'Redis does not serve as it should')
  const postgresErrors = rateLimitedErrors(log, 'connection to Postgres failed')
  const options = { ...workerConnection(redisUrl), socketTimeout: SOCKET_TIMEOUT_MS }

  const db = openDatabase({ ...database, onError: postgresErrors })
  lifecycle.onClose('Postgres', () => db.destroy())
  const redis = openRedis(options, redisErrors)
  lifecycle.onClose('Redis', () => redis.disconnect())
  const blocking = openRedis(options, redisErrors)
  lifecycle.onClose('Redis of the read that blocks', () => blocking.disconnect())
  const reader = new OutboxReader({ redis, blocking, prefix, consumer: instance })
  try {
    await Promise.all([
      redisReady(redis, START_WITHIN_MS).catch(unavailable('Redis', 'REDIS_URL', redisUrl)),
      postgresReady(db, clock, START_WITHIN_MS).catch(
        unavailable('Postgres', 'DATABASE_URL', database.url),
      ),
    ])
  } catch (error) {
    await lifecycle.close()
    throw error
  }

  const registry = createRegistry()
  const metrics = new RecorderMetrics(registry)
  const waiting = rateLimitedErrors(log, 'facts are waiting: they can not be recorded now')
  await reader.findOutboxes().catch(waiting)
  const onUntold = rateLimitedErrors(log, 'events of runs could not be told')
  const teller = new RunTeller({ redis, prefix, onError: onUntold })
  const recording = new Recording({ db, reader, teller, metrics, log, waiting }, config, hurry)
  lifecycle.onClose('recording', () =>
    recording.finish(config.graceMs, () => {
      redis.disconnect()
      blocking.disconnect()
    }),
  )

  const ready = async (): Promise<string[]> => {
    const reasons: string[] = []
    if (redis.status === 'ready') await redis.ping()
    else reasons.push('Redis cannot be reached')
    await askPostgres(db).catch(() => reasons.push('Postgres cannot be reached'))
    return reasons
  }
  const ops = await startOpsServer({ ...config, registry, ready })
  lifecycle.onClose('ops server', () => ops.close())
  context.listening(ops.port)
  return lifecycle
}

function unavailable(what: string, variable: string, address: string) {
  return (cause: unknown): never => {
    throw new UnavailableError({ what, variable, address, cause })
  }
}
