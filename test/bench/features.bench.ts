import { ensurePartitions, openDatabase } from '@jadwal/db'
import { createProducer, type EnqueueManyOptions, keys, type Producer } from '@jadwal/queue'
import { eventually, spawnService } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { sql } from 'kysely'
import { bundle } from '../support/bundle-jobs.ts'
import { cpuSeconds, parentOf } from './cpu-time.ts'
import { grouped, median, table } from './table.ts'

/**
 * What each feature costs a run, in CPU time of each process and beside the plain run of the same bench.
 * All features are in the catalogue all the time: the plain run shows that what is not used costs
 * nothing. The history is what recorder and Postgres take, of every run.
 */
const RUNS = Number(process.env['BENCH_RUNS'] ?? 20_000)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const CONCURRENCY = Number(process.env['BENCH_CONCURRENCY'] ?? 200)
const BULK = 5_000
const QUEUE = 'bench'
/** Of the jobs whose runs have a child each, of which the machine can bear few. */
const APART = 'bench-apart'
const CHILDREN = 2
const PREFIX = 'bench'

interface Feature {
  job: string
  /** Default: the queue that all others share. */
  queue?: string
  /** Default 1. Some cost so much that fewer runs tell as much. */
  partOfRuns?: number
  payload?: (n: number) => object
  options?: (from: number, count: number) => EnqueueManyOptions
}

const FEATURES: Record<string, Feature> = {
  plain: { job: 'bench.plain' },
  'idempotency key': {
    job: 'bench.plain',
    options: (from, count) => ({
      idempotencyKeys: Array.from({ length: count }, (_, n) => `${batch}-${from + n}`),
    }),
  },
  'can be followed': { job: 'bench.plain', options: () => ({ follow: true }) },
  'key limit': { job: 'bench.keyed' },
  fuse: { job: 'bench.fused' },
  'three log lines': { job: 'bench.logging' },
  secret: { job: 'bench.secret', payload: (n) => ({ n, password: { secret: 'BENCH' } }) },
  'a child (two runs)': { job: 'bench.parent' },
  thread: { job: 'bench.thread', queue: APART, partOfRuns: 0.02 },
  process: { job: 'bench.process', queue: APART, partOfRuns: 0.02 },
}
const WHO = ['producer', 'worker', 'recorder', 'redis', 'postgres'] as const

const redisUrl = process.env['REDIS_URL'] ?? ''
const databaseUrl = process.env['DATABASE_URL'] ?? ''
const db = openDatabase({ url: databaseUrl, schema: 'jadwal', max: 1 })
const redis = new Redis(redisUrl)
await ensurePartitions(db, { now: new Date(), daysAhead: 1 })
const env = {
  REDIS_URL: redisUrl,
  DATABASE_URL: databaseUrl,
  JADWAL_PREFIX: PREFIX,
  // What handlers log at info is kept with the attempt all the same.
  JADWAL_LOG_LEVEL: 'warn',
  JADWAL_JOBS: await bundle('support/feature-jobs.ts'),
  JADWAL_QUEUES: `${QUEUE}:${CONCURRENCY},${APART}:${CHILDREN}`,
  JADWAL_SECRET_BENCH: 'of-the-bench',
}
const [worker, recorder] = [spawnService('worker', env), spawnService('recorder', env)]
await Promise.all([worker.ready, recorder.ready])
const producer: Producer = createProducer({
  url: redisUrl,
  prefix: PREFIX,
  onError(error) {
    throw error
  },
})
const pids = {
  worker: worker.pid,
  recorder: recorder.pid,
  redis: Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]),
  postgres: parentOf(await postgresPid()),
}
/** Keeps idempotency keys of one measurement apart from those of another. */
let batch = 0

async function postgresPid(): Promise<number> {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db)
  return rows[0]?.pid ?? 0
}

function cpuOf(): number[] {
  const { user, system } = process.cpuUsage()
  return [(user + system) / 1e6, ...Object.values(pids).map(cpuSeconds)]
}

async function isDone(queue: string): Promise<boolean> {
  const key = (part: string): string => keys.bullKey(PREFIX, queue, part)
  // In this order: a message leaves `active` only after its outcome is in the outbox.
  const waiting = (await redis.llen(key('wait'))) + (await redis.zcard(key('delayed')))
  const active = await redis.llen(key('active'))
  return waiting + active + (await redis.xlen(keys.outboxKey(PREFIX, queue))) === 0
}

/** CPU µs per run, of each in WHO. */
async function measure(feature: Feature): Promise<number[]> {
  const { job, queue = QUEUE, payload = (n) => ({ n }), options = () => ({}) } = feature
  const runs = Math.ceil(RUNS * (feature.partOfRuns ?? 1))
  batch += 1
  const before = cpuOf()
  for (let from = 0; from < runs; from += BULK) {
    const count = Math.min(BULK, runs - from)
    const payloads = Array.from({ length: count }, (_, n) => payload(from + n))
    await producer.enqueueMany({ name: job, queue }, payloads, options(from, count))
  }
  await eventually(
    async () => {
      if (!(await isDone(queue))) throw new Error(`runs of ${job} have not ended`)
    },
    { timeoutMs: 300_000, everyMs: 20 },
  )
  return cpuOf().map((used, at) => ((used - (before[at] ?? 0)) / runs) * 1e6)
}

const measured = new Map<string, number[][]>()
await measure({ job: 'bench.plain' })
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, feature] of Object.entries(FEATURES)) {
    // Children idle for a while: those of this kind are there when it is measured.
    if (feature.queue === APART) await measure({ ...feature, partOfRuns: CHILDREN / RUNS })
    const micros = await measure(feature)
    measured.set(name, [...(measured.get(name) ?? []), micros])
    process.stderr.write(`round ${round + 1}: ${name} ${grouped(sumOf(micros))} µs a run\n`)
  }
}

function sumOf(micros: readonly number[]): number {
  return micros.reduce((sum, each) => sum + each, 0)
}

function line(name: string, micros: readonly number[], plain: number): string[] {
  const sum = sumOf(micros)
  return [name, ...micros.map(grouped), grouped(sum), (sum / plain).toFixed(2)]
}

const medians = [...measured].map(([name, rounds]) => {
  const micros = WHO.map((_, at) => median(rounds.map((round) => round[at] ?? 0)))
  return { name, micros }
})
const plain = sumOf(medians[0]?.micros ?? [NaN])
console.log(`
CPU time per run in µs, medians of ${ROUNDS} rounds of ${grouped(RUNS)} runs in bulk, of isolated ones fewer:

${table([
  ['', ...WHO, 'sum', 'to plain'],
  ...medians.map(({ name, micros }) => line(name, micros, plain)),
])}`)
await producer.close()
await Promise.all([worker.stop(), recorder.stop()])
await db.destroy()
redis.disconnect()
