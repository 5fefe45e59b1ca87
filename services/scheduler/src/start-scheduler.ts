import { askPostgres, openDatabase } from '@jadwal/db'
import {
  Alarms,
  cipherOf,
  createDeadLetters,
  keys,
  leaderConnection,
  Lease,
  memoryUse,
  openRedis,
  producerConnection,
  RedisClock,
  redisReady,
  type Reign,
  subscribe,
  WORKERS_STOP_AT,
} from '@jadwal/queue'
import {
  createRegistry,
  Lifecycle,
  pollLoop,
  rateLimitedErrors,
  type ServiceContext,
  startOpsServer,
  UnavailableError,
} from '@jadwal/runtime'
import { applyAtStart } from './apply-schedule-file.ts'
import { Bell } from './bell.ts'
import { Catalogue } from './catalogue.ts'
import type { SchedulerConfig } from './config.ts'
import { Backfills } from './backfills.ts'
import { FiringQueues } from './firing-queues.ts'
import { ScheduleKeeper } from './keep-schedules.ts'
import { Candidate } from './leadership.ts'
import { LostRuns } from './lost-runs.ts'
import { Redrives } from './redrives.ts'
import { rule } from './reign.ts'
import { ScheduleBook } from './schedule-book.ts'
import { createSchedulerMetrics } from './scheduler-metrics.ts'
import { carryOutAllCancels } from './carry-out-cancels.ts'
import { keepPartitions } from './keep-partitions.ts'
import { markLate } from './mark-late-ticks.ts'
import { StepDown } from './step-down.ts'
import { Thinning } from './thinning.ts'
import { StatsKeeper } from './keep-stats.ts'
import { trimAudit } from './trim-audit.ts'
import { trimQueues } from './trim-queues.ts'
import { tellOfSchedules } from './tell-of-schedules.ts'
import { tellOfWorkers } from './tell-of-workers.ts'

const START_WITHIN_MS = 10_000
const EACH_MS = 1_000

/** The composition root of the scheduler. */
export async function startScheduler(
  config: SchedulerConfig,
  { log, stop, instance, clock, listening }: ServiceContext,
): Promise<Lifecycle> {
  const lifecycle = new Lifecycle(log)
  const { redisUrl: url, prefix, leaseMs } = config
  const onError = rateLimitedErrors(log, 'Redis connection failed')

  const redis = openRedis(producerConnection(url), onError)
  lifecycle.onClose('Redis', () => redis.disconnect())
  // Of its own, since an answer that is late is none here, and the lease waits behind nothing else.
  const leaseRedis = openRedis(leaderConnection(url, Math.max(250, leaseMs / 4)), onError)
  lifecycle.onClose('connection of the lease', () => leaseRedis.disconnect())
  const onPostgresError = rateLimitedErrors(log, 'Postgres connection failed')
  const open = (max: number) =>
    openDatabase({ ...config.database, max, queryTimeoutMs: 60_000, onError: onPostgresError })
  const db = open(config.database.max - 1)
  lifecycle.onClose('Postgres', () => db.destroy())
  // Of its own: the reading of schedules waits behind no upkeep.
  const keeperDb = open(1)
  lifecycle.onClose('connection of the schedules', () => keeperDb.destroy())
  try {
    await redisReady(redis, START_WITHIN_MS)
    await redisReady(leaseRedis, START_WITHIN_MS)
  } catch (cause) {
    await lifecycle.close()
    throw new UnavailableError({ what: 'Redis', variable: 'REDIS_URL', address: url, cause })
  }
  try {
    await askPostgres(db)
  } catch (cause) {
    await lifecycle.close()
    throw new UnavailableError({
      what: 'Postgres',
      variable: 'DATABASE_URL',
      address: config.database.url,
      cause,
    })
  }

  const registry = createRegistry()
  const metrics = createSchedulerMetrics(registry)
  const catalogue = new Catalogue()
  if (config.scheduleFile !== undefined) {
    await applyAtStart({ db, redis, prefix, catalogue, log, stop }, config.scheduleFile)
  }
  const redisClock = new RedisClock(redis, clock)
  await redisClock.measure()
  await catalogue.refresh(redis, prefix)
  const book = new ScheduleBook()
  const keeper = new ScheduleKeeper({ db: keeperDb, book, redisClock, metrics, log })
  await keeper.refresh()

  const due = new Bell()
  const leaseFree = new Bell()
  const changed = new Bell()
  const stepDown = new StepDown()
  const subscription = subscribe({
    url,
    onError,
    channels: {
      [keys.leaseFreeChannel(prefix)]: () => leaseFree.ring(),
      [keys.schedulesChangedChannel(prefix)]: () => changed.ring(),
      [keys.stepDownChannel(prefix)]: (term) => stepDown.heard(term),
    },
  })
  lifecycle.onClose('subscription', () => subscription.close())
  const alarms = new Alarms({ url, prefix, onError })
  lifecycle.onClose('alarms', () => alarms.close())
  const queues = new FiringQueues(redis, {
    url,
    prefix,
    commandTimeoutMs: Math.max(2_000, leaseMs),
    onError,
  })
  queues.warm(catalogue.queues())
  lifecycle.onClose('firing connections', () => queues.close())
  const backfillQueues = new FiringQueues(redis, {
    url,
    prefix,
    commandTimeoutMs: Math.max(2_000, leaseMs),
    onError,
  })
  lifecycle.onClose('connections of backfills', () => backfillQueues.close())
  const cipher = cipherOf(config.encryptionKeys)
  const deadLetters = createDeadLetters({ redis, prefix, clock, onError, cipher })
  lifecycle.onClose('dead letters', () => deadLetters.close())

  const loop = (name: string, poll: () => Promise<number>): void => {
    const ended = pollLoop(poll, { signal: stop, log, name })
    lifecycle.onClose(name, () => ended)
  }
  let full = false
  const redisIsFull = (): boolean => full
  loop('measure the clock', async () => {
    await redisClock.measure()
    metrics.skew.set(redisClock.skewMs() / 1_000)
    full = (await memoryUse(redis)) >= WORKERS_STOP_AT
    return EACH_MS
  })
  loop('keep the catalogue', async () => {
    await catalogue.refresh(redis, prefix)
    queues.warm(catalogue.queues())
    return 2 * EACH_MS
  })
  loop('keep the schedules', async () => {
    if (await keeper.refresh()) due.ring()
    await changed.wait(EACH_MS, stop)
    return 0
  })
  const lostRuns = new LostRuns({ db, redis, redisClock, prefix, catalogue, book, log })
  const { retentionDays, statsDays } = config
  const backfillDeps = {
    db,
    redis,
    redisClock,
    prefix,
    catalogue,
    book,
    queues: backfillQueues,
    log,
    redisIsFull,
    cipher,
  }
  const upkeep = (reign: Reign) => {
    const backfills = new Backfills(backfillDeps, reign)
    const stats = new StatsKeeper({ db, redisClock, log, statsDays })
    const thinning = new Thinning({ db, redisClock, log, catalogue, retentionDays, reign })
    const redrives = new Redrives({ ...backfillDeps, deadLetters })
    return {
      'carry out redrives': () => redrives.round(),
      'make the runs of backfills': () => backfills.round(),
      'keep the partitions': () =>
        keepPartitions({ db, redisClock, log, catalogue, retentionDays }),
      'thin the history': () => thinning.round(),
      'fold the statistics': () => stats.round(),
      'find lost runs': () => lostRuns.round(),
      'carry out cancels': () => carryOutAllCancels({ redis, redisClock, prefix, log }),
      'mark late ticks': () => markLate({ db, redis, redisClock, prefix, metrics, log }),
      'tell of schedules': () => tellOfSchedules({ db, redis, redisClock, prefix }),
      'tell of workers': () => tellOfWorkers({ redis, redisClock, prefix }),
      'trim the audit log': () => trimAudit({ db, redisClock, auditDays: config.auditDays }),
      'trim the queues': () => trimQueues({ redis, redisClock, prefix, log, retentionDays }),
    }
  }
  const lease = new Lease(leaseRedis, clock, { prefix, leaseMs, instance })
  const candidate = new Candidate({ lease, redisClock, clock, leaseFree, leaseMs, log })
  const reignDeps = {
    book,
    catalogue,
    queues,
    redis,
    redisClock,
    clock,
    prefix,
    metrics,
    log,
    lease,
    alarms,
    due,
    leaseMs,
    stepDown,
    upkeep,
    redisIsFull,
    cipher,
  }
  loop('lead', async () => {
    const reign = await candidate.stand()
    if ('waitMs' in reign) {
      await leaseFree.wait(reign.waitMs, stop)
      return 0
    }
    const end = await rule(reignDeps, reign, stop)
    if (end === 'stepped-down' || end === 'stalled') candidate.standBack()
    return 0
  })

  const ops = await startOpsServer({
    host: config.host,
    port: config.port,
    registry,
    metricsToken: config.metricsToken,
    ready: () => [
      ...(redis.status === 'ready' ? [] : ['Redis is not connected']),
      ...(stop.aborted ? ['stopping'] : []),
    ],
  })
  lifecycle.onClose('ops server', () => ops.close())
  listening(ops.port)
  return lifecycle
}
