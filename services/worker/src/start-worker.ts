import {
  CancelWatch,
  cipherOf,
  findJob,
  isRedisError,
  openCorkedRedis,
  publishCatalogue,
  redisReady,
  registerQueues,
  removeHeartbeat,
  RunWorker,
  suspectSlot,
  workerConnection,
  workWaits,
} from '@jadwal/queue'
import {
  createRegistry,
  Lifecycle,
  pollLoop,
  rateLimitedErrors,
  type ServiceContext,
  sleep,
  startOpsServer,
  UnavailableError,
} from '@jadwal/runtime'
import { describeJob } from '@jadwal/sdk'
import { alertJobs } from './alert-jobs.ts'
import { AttemptsInHand } from './attempts-in-hand.ts'
import { ChildRuns } from './child-runs.ts'
import type { WorkerConfig } from './config.ts'
import { drain } from './drain.ts'
import { executeRun } from './execute-run.ts'
import { slotTaker, tendLots } from './slots.ts'
import { FetchGate } from './fetch-gate.ts'
import { FetchWatch } from './fetch-watch.ts'
import { startFuses } from './fuses.ts'
import { HealthMetrics } from './health-metrics.ts'
import { isolateJobs } from './isolate-jobs.ts'
import { loadJobs, requireKeysFor, servedQueues } from './job-catalogue.ts'
import { attemptEnded } from './run-events.ts'
import { RunMetrics } from './run-metrics.ts'
import { announceLong, heartbeat, lookForCancels, sweep, watchMemory } from './worker-loops.ts'

const START_WITHIN_MS = 10_000
const GOODBYE_MS = 1_000
/** What others in hand get when an uncaught error may have come from any of them; within the grace. */
const AFTER_CRASH_MS = 5_000
/** Redis answers, but refuses to write. */
const REFUSAL: ReadonlySet<string> = new Set(
  'OOM MISCONF NOREPLICAS READONLY LOADING MASTERDOWN CLUSTERDOWN BUSY NOAUTH NOPERM'.split(' '),
)

/** The composition root of the worker. Throws `ConfigError` for jobs or queues that it can't serve. */
export async function startWorker(
  config: WorkerConfig,
  context: ServiceContext,
): Promise<Lifecycle> {
  const { log, stop, hurry, instance, clock } = context
  const { redisUrl: url, prefix, graceMs, lockMs } = config
  const registry = createRegistry()
  const ownJobs = await loadJobs(config.jobsModule)
  const queues = servedQueues(config.queues, ownJobs)
  const allJobs = [...ownJobs, ...alertJobs(config, { registry, jobs: ownJobs })]
  const served = new Set(queues.map((queue) => queue.name))
  const jobs = allJobs.filter((job) => served.has(job.queue))
  const cipher = cipherOf(config.encryptionKeys)
  if (!cipher) requireKeysFor(jobs)

  const lifecycle = new Lifecycle(log)
  const logError = rateLimitedErrors(log, 'Redis does not serve as it should')
  const redis = openCorkedRedis(workerConnection(url), logError)
  lifecycle.onClose('Redis', () => redis.disconnect())
  try {
    await redisReady(redis, START_WITHIN_MS)
  } catch (cause) {
    await lifecycle.close()
    throw new UnavailableError({ what: 'Redis', variable: 'REDIS_URL', address: url, cause })
  }
  const catalogue = jobs.map(describeJob)
  // A Redis that is full takes neither; the heartbeat publishes again.
  await registerQueues(redis, prefix, [...served]).catch(logError)
  await publishCatalogue(redis, prefix, catalogue).catch(logError)

  const metrics = new RunMetrics(registry, jobs)
  const find = (name: string) => findJob(redis, prefix, name)
  const children = new ChildRuns({
    url,
    prefix,
    clock,
    jobs: allJobs,
    findJob: find,
    onError: logError,
    maxPayloadBytes: config.maxPayloadBytes,
    cipher,
  })
  lifecycle.onClose('producer of children', () => children.close())
  const made = isolateJobs(jobs, { env: config.childEnv, log, clock, registry, lifecycle })
  const attempts = new AttemptsInHand({ clock, log, children, masks: config.masks })
  const health = new HealthMetrics(registry, () => attempts.abandoned)
  const asking = { redis, prefix, onError: logError, stop }
  const fuses = startFuses({ ...asking, url, queues, jobs, registry, log })
  lifecycle.onClose('fuses', () => fuses.close())
  const execution = {
    jobs: new Map(made.map((job) => [job.name, job])),
    findJob: find,
    secrets: config.secrets,
    cipher,
    attempts,
    fuses,
    takeSlot: slotTaker(asking),
    random: Math.random,
  }
  const logLeftAlone = rateLimitedErrors(log, 'run left for a worker of another version')
  const suspects = suspectSlot()
  const cancels = new CancelWatch(
    { redis, url, prefix, queues: [...served], onError: logError },
    (runId, reason) => attempts.cancel(new Map([[runId, reason]])),
  )
  lifecycle.onClose('cancel watch', () => cancels.close())
  const workers: RunWorker[] = queues.map(
    ({ name: queue, concurrency, rate }) =>
      new RunWorker({
        redis,
        prefix,
        queue,
        concurrency,
        rate,
        lockMs,
        clock,
        instance,
        suspects,
        payloadRules: (job) => execution.jobs.get(job),
        heardOfCancel: (runId) => cancels.heardOf(runId),
        execute: (run) => executeRun(execution, run),
        onEnd: (run, end, counted) => {
          fuses.ended(run, end, counted)
          attemptEnded({ log, metrics }, run, { end, counted })
        },
        lossPolicy: (job) => execution.jobs.get(job)?.onLost ?? 'retry',
        onLost: (runIds) => {
          health.locksLost(runIds.length)
          attempts.lose(runIds)
        },
        onRenewed: (count) => health.locksRenewed(count),
        onLeftAlone: (runId, unknown) => {
          health.leftAlone(queue, unknown)
          logLeftAlone(new Error(`run ${runId}: its ${unknown} is not known here`))
        },
        onError: (error) => {
          logError(error)
          if (isRedisError(error, REFUSAL)) void gate.refused()
        },
      }),
  )
  const gate = new FetchGate(workers, log)
  const fetching = new FetchWatch({
    workers,
    gate,
    workWaits: (queue) => {
      const rate = queues.find(({ name }) => name === queue)?.rate
      return workWaits(redis, prefix, { queue, rate, nowMs: clock.now().getTime() })
    },
    clock,
  })
  const crashed = new AbortController()
  context.onCrash((error) => {
    const culprit = attempts.crash(error)
    const facts = culprit && { run: culprit.runId, job: culprit.job.name, attempt: culprit.attempt }
    log.error(
      facts ?? {},
      culprit ? 'uncaught error fails its attempt' : 'uncaught error of no known attempt',
    )
    if (!culprit) setTimeout(() => crashed.abort(), AFTER_CRASH_MS).unref()
  })

  const ops = await startOpsServer({
    host: config.host,
    port: config.port,
    registry,
    metricsToken: config.metricsToken,
    ready: () => [
      ...(redis.status === 'ready' ? [] : ['Redis is not connected']),
      ...fetching.stuck(),
      ...(gate.isHeld ? ['Redis takes no more'] : []),
      ...(stop.aborted ? ['draining'] : []),
    ],
  })
  lifecycle.onClose('ops server', () => ops.close())

  const end = new AbortController()
  const loopDeps = { redis, prefix, instance, queues, attempts, clock, log }
  const loop = (name: string, signal: AbortSignal, poll: () => Promise<number>): void => {
    void pollLoop(poll, { signal, log, name })
  }
  loop('heartbeat', end.signal, heartbeat({ ...loopDeps, catalogue, stop }))
  loop('look for cancels', end.signal, lookForCancels({ ...loopDeps, cancels }))
  loop('announce long attempts', end.signal, announceLong(loopDeps))
  loop('sweep', stop, sweep(loopDeps))
  loop('tend lots', stop, tendLots({ ...loopDeps, jobs: execution.jobs }))
  loop('watch the fetching', stop, () => fetching.look())
  loop('watch memory', stop, watchMemory({ ...loopDeps, gate }))
  lifecycle.onClose('heartbeat', async () => {
    end.abort()
    // While Redis is away the command waits for it, which the process shall not.
    await Promise.race([removeHeartbeat(redis, prefix, instance), sleep(GOODBYE_MS)])
  })
  lifecycle.onClose('runs in hand', async () => {
    gate.close()
    const enough = AbortSignal.any([hurry, crashed.signal])
    const told = await drain({ workers, attempts, graceMs, hurry: enough, log })
    if (!told) log.warn('Redis could not be told of all outcomes, other workers will take them up')
  })
  for (const worker of workers) worker.start()
  context.listening(ops.port)
  return lifecycle
}
