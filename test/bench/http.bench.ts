import { DEFAULT_BACKOFF, type JobDescription } from '@jadwal/domain'
import { createProducer, keys, publishCatalogue } from '@jadwal/queue'
import { spawnService } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { cpuSeconds } from './cpu-time.ts'
import { openClient, paced } from './http-load.ts'
import { grouped, median, quantile, table } from './table.ts'

/**
 * Enqueueing over HTTP beside the SDK in the same process, round after round: one run a request at a
 * steady rate, then as fast as batches go, as JSON and as a stream of NDJSON. Nobody works the runs
 * off. The one who asks shares the machine with the api, Redis and Postgres.
 */
const PER_SECOND = Number(process.env['BENCH_PER_SECOND'] ?? 1_000)
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 20)
const RUNS = Number(process.env['BENCH_RUNS'] ?? 50_000)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const CONNECTIONS = Number(process.env['BENCH_CONNECTIONS'] ?? 64)
/** Runs of one batch of JSON, and of one `enqueueMany`. */
const BATCH = 5_000
/** Runs of one piece of a stream. */
const PIECE = 500
const PREFIX = 'bench'
const QUEUE = 'bench'

const JOB: JobDescription = {
  name: 'bench.noop',
  queue: QUEUE,
  attempts: 3,
  backoff: DEFAULT_BACKOFF,
  timeoutMs: 60_000,
  payloadSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
}

const redisUrl = process.env['REDIS_URL'] ?? ''
const redis = new Redis(redisUrl)
await using api = spawnService('api', {
  REDIS_URL: redisUrl,
  DATABASE_URL: process.env['DATABASE_URL'] ?? '',
  JADWAL_PREFIX: PREFIX,
  JADWAL_AUTH: 'off',
  JADWAL_LOG_LEVEL: 'info',
})
using client = openClient(`http://127.0.0.1:${await api.ready}`, CONNECTIONS)
const producer = createProducer({
  url: redisUrl,
  prefix: PREFIX,
  onError(error) {
    throw error
  },
})

const runOf = (n: number) => ({ job: JOB.name, payload: { n } })

const ONE_BY_ONE: Record<string, (n: number) => Promise<unknown>> = {
  'POST /runs': (n) => client.post('/api/v1/runs', 'application/json', JSON.stringify(runOf(n))),
  'sdk enqueue': (n) => producer.enqueue(JOB, { n }),
}

const IN_BULK: Record<string, () => Promise<unknown>> = {
  async 'JSON batches'() {
    for (let at = 0; at < RUNS; at += BATCH) {
      const runs = Array.from({ length: Math.min(BATCH, RUNS - at) }, (_, n) => runOf(at + n))
      await client.post('/api/v1/runs/batch', 'application/json', JSON.stringify({ runs }))
    }
  },
  async 'NDJSON stream'() {
    const text = await client.post('/api/v1/runs/batch', 'application/x-ndjson', pieces())
    const lines = text.trimEnd().split('\n')
    const good = lines.filter((line) => line.includes('"state":"queued"')).length
    if (good !== RUNS) throw new Error(`${good} lines of ${RUNS} were taken: ${lines.at(-1)}`)
  },
  async 'sdk enqueueMany'() {
    for (let at = 0; at < RUNS; at += BATCH) {
      const payloads = Array.from({ length: Math.min(BATCH, RUNS - at) }, (_, n) => ({ n: at + n }))
      await producer.enqueueMany(JOB, payloads)
    }
  },
}

async function* pieces(): AsyncGenerator<string> {
  for (let at = 0; at < RUNS; at += PIECE)
    yield Array.from(
      { length: Math.min(PIECE, RUNS - at) },
      (_, n) => `${JSON.stringify(runOf(at + n))}\n`,
    ).join('')
}

/** Empties Redis, so that each part begins with as much. */
async function begin(): Promise<void> {
  await redis.flushall()
  await publishCatalogue(redis, PREFIX, [JOB])
}

/** Rejects when not every run that was accepted is in the queue. */
async function expectQueued(count: number): Promise<void> {
  const waiting = await redis.llen(`${keys.bullPrefix(PREFIX, QUEUE)}:${QUEUE}:wait`)
  if (waiting !== count) throw new Error(`${waiting} of ${count} runs are in the queue`)
}

interface Steady {
  p50: number
  p99: number
  perSecond: number
  /** Share of the calls that were refused, or got no answer. */
  failed: number
  /** CPU seconds of the api for each second. */
  cpu: number
}
const steady = new Map<string, Steady[]>()
const bulk = new Map<string, number[]>()

async function measureSteady(name: string, call: (n: number) => Promise<unknown>): Promise<void> {
  await begin()
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => call(n)))
  await begin()
  const cpuBefore = cpuSeconds(api.pid)
  const count = PER_SECOND * SECONDS
  const { tookMs, failures, seconds } = await paced({ count, perSecond: PER_SECOND }, call)
  for (const [why, times] of failures) process.stderr.write(`${name}: ${times} times ${why}\n`)
  const failed = [...failures.values()].reduce((sum, times) => sum + times, 0)
  await expectQueued(count - failed)
  const measured = {
    p50: quantile(tookMs, 0.5),
    p99: quantile(tookMs, 0.99),
    perSecond: count / seconds,
    failed: failed / count,
    cpu: (cpuSeconds(api.pid) - cpuBefore) / seconds,
  }
  steady.set(name, [...(steady.get(name) ?? []), measured])
  process.stderr.write(
    `${name}: p50 ${measured.p50.toFixed(1)} ms, p99 ${measured.p99.toFixed(1)} ms\n`,
  )
}

async function measureBulk(name: string, send: () => Promise<unknown>): Promise<void> {
  await begin()
  const startMs = performance.now()
  await send()
  const perSecond = RUNS / ((performance.now() - startMs) / 1_000)
  await expectQueued(RUNS)
  bulk.set(name, [...(bulk.get(name) ?? []), perSecond])
  process.stderr.write(`${name}: ${grouped(perSecond)} runs/s\n`)
}

for (let round = 0; round < ROUNDS; round++) {
  for (const [name, call] of Object.entries(ONE_BY_ONE)) await measureSteady(name, call)
  for (const [name, send] of Object.entries(IN_BULK)) await measureBulk(name, send)
}

const ofSdk = median(bulk.get('sdk enqueueMany') ?? [])
const paces = [...steady].map(([name, all]) => {
  const of = (key: keyof Steady): number => median(all.map((each) => each[key]))
  const failed = `${(of('failed') * 100).toFixed(2)} %`
  const [p50, p99] = [of('p50').toFixed(1), of('p99').toFixed(1)]
  return [name, p50, p99, grouped(of('perSecond')), failed, of('cpu').toFixed(2)]
})
const rates = [...bulk].map(([name, all]) => [
  name,
  grouped(median(all)),
  (median(all) / ofSdk).toFixed(2),
])
function ratio(key: 'p50' | 'p99'): string {
  const [http = NaN, sdk = NaN] = ['POST /runs', 'sdk enqueue'].map((name) =>
    median((steady.get(name) ?? []).map((each) => each[key])),
  )
  return (http / sdk).toFixed(1)
}
console.log(`
${ROUNDS} rounds, medians. One api process; one client of ${CONNECTIONS} connections on the same machine.

${grouped(PER_SECOND)} calls a second for ${SECONDS} s, each of one run; ms from when a call was due:

${table([['', 'p50 ms', 'p99 ms', 'calls/s', 'failed', 'api CPUs'], ...paces])}

POST /runs to sdk enqueue: p50 ${ratio('p50')} times, p99 ${ratio('p99')} times.

${grouped(RUNS)} runs, in batches of ${grouped(BATCH)} or one stream:

${table([['', 'runs/s', 'of the sdk'], ...rates])}`)
await producer.close()
redis.disconnect()
