import { ensurePartitions, openDatabase } from '@jadwal/db'
import { eventually } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { sql } from 'kysely'
import { cpuSeconds, parentOf } from './cpu-time.ts'
import { openBare, openJadwal, type OpenSide, type Side } from './sides.ts'
import { grouped, median, table } from './table.ts'

/**
 * Runs that do nothing, from the first `enqueue` to the last row in Postgres, beside bare BullMQ that
 * keeps no history, from the first `add` to the last message gone. Both with one worker process of the
 * same concurrency; Jadwal with a recorder process beside it. The sides take turns, round after round.
 */
const RUNS = Number(process.env['BENCH_RUNS'] ?? 50_000)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const CONCURRENCY = Number(process.env['BENCH_CONCURRENCY'] ?? 200)
/** `enqueue` calls under way at once. */
const IN_FLIGHT = 200
/** Runs that one `enqueueMany` gets. */
const BULK = 5_000

const redisUrl = process.env['REDIS_URL'] ?? ''
const databaseUrl = process.env['DATABASE_URL'] ?? ''
const db = openDatabase({ url: databaseUrl, schema: 'jadwal', max: 1 })
const redis = new Redis(redisUrl)

interface Measured {
  perSecond: number
  /** CPU seconds by process. */
  cpu: Record<string, number>
}

/** A way to bring the runs in; resolves to when the clock began to run. */
type Load = (side: Side) => Promise<number>

const LOADS: Record<string, Load> = {
  async 'one by one'(side) {
    const startMs = performance.now()
    await oneByOne(side)
    return startMs
  },
  async 'one by one, queue filled before'(side) {
    await side.pause()
    await oneByOne(side)
    const startMs = performance.now()
    await side.resume()
    return startMs
  },
  async 'in bulk'(side) {
    const startMs = performance.now()
    await inBulk(side)
    return startMs
  },
  async 'in bulk, queue filled before'(side) {
    await side.pause()
    await inBulk(side)
    const startMs = performance.now()
    await side.resume()
    return startMs
  },
}
const SIDES: Record<string, OpenSide> = { jadwal: openJadwal, bare: openBare }

async function oneByOne(side: Side): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < RUNS) await side.enqueue(next++)
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
}

async function inBulk(side: Side): Promise<void> {
  for (let at = 0; at < RUNS; at += BULK) await side.enqueueMany(Math.min(BULK, RUNS - at))
}

async function measure(open: OpenSide, name: string, load: Load): Promise<Measured> {
  const options = { redisUrl, databaseUrl, concurrency: CONCURRENCY }
  await using side = await open(options, name)
  const before = await cpuOf(side)
  const startMs = await load(side)
  await eventually(
    async () => {
      if (!(await side.isDone())) throw new Error('not done yet')
    },
    { timeoutMs: 120_000, everyMs: 5 },
  )
  const seconds = (performance.now() - startMs) / 1_000
  const after = await cpuOf(side)
  const cpu = Object.fromEntries(
    Object.entries(after).map(([who, used]) => [who, used - (before[who] ?? 0)]),
  )
  return { perSecond: RUNS / seconds, cpu }
}

const pids = {
  redis: Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]),
  postgres: parentOf(await postgresPid()),
}

async function postgresPid(): Promise<number> {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db)
  return rows[0]?.pid ?? 0
}

async function cpuOf(side: Side): Promise<Record<string, number>> {
  const { user, system } = process.cpuUsage()
  const services = Object.entries(side.processes).map(([who, { pid }]) => [who, pid] as const)
  return {
    producer: (user + system) / 1e6,
    ...Object.fromEntries(
      [...services, ...Object.entries(pids)].map(([who, pid]) => [who, cpuSeconds(pid)]),
    ),
  }
}

async function countRows(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM ${sql.table('runs')} WHERE state = 'succeeded'`.execute(db)
  return rows[0]?.count ?? 0
}

const results = new Map<string, Measured[]>()
await ensurePartitions(db, { now: new Date(), daysAhead: 1 })
const loads = Object.entries(LOADS).filter(([name]) =>
  name.includes(process.env['BENCH_LOAD'] ?? ''),
)
let expectedRows = 0
for (let round = 0; round < ROUNDS; round++) {
  for (const [loadName, load] of loads) {
    for (const [sideName, open] of Object.entries(SIDES)) {
      const key = `${loadName}/${sideName}`
      const measured = await measure(open, `bench-${results.size}-${round}`, load)
      results.set(key, [...(results.get(key) ?? []), measured])
      await redis.flushall()
      process.stderr.write(`round ${round + 1}: ${key} ${grouped(measured.perSecond)} runs/s\n`)
    }
    expectedRows += RUNS
    const rows = await countRows()
    if (rows !== expectedRows) throw new Error(`${rows} rows of ${expectedRows} runs`)
  }
}

const speed = (key: string): number =>
  median((results.get(key) ?? []).map(({ perSecond }) => perSecond))
const ratios = loads.map(([name]) => {
  const [jadwal, bare] = [speed(`${name}/jadwal`), speed(`${name}/bare`)]
  return [name, grouped(jadwal), grouped(jadwal * 60), grouped(bare), (jadwal / bare).toFixed(2)]
})
const WHO = ['producer', 'worker', 'recorder', 'redis', 'postgres']
const costs = [...results].map(([key, measured]) => {
  const micros = WHO.map((who) => {
    const used = measured.map(({ cpu }) => cpu[who] ?? 0)
    return Math.round((median(used) / RUNS) * 1e6)
  })
  const sum = micros.reduce((total, each) => total + each, 0)
  return [key].concat([...micros, sum].map(String))
})
console.log(`
${grouped(RUNS)} runs, ${ROUNDS} rounds, medians. Each side: one worker process, concurrency ${CONCURRENCY};
Jadwal: one recorder process as well. Producer: one process, ${IN_FLIGHT} calls in flight, or enqueueMany of ${grouped(BULK)}.

${table([['enqueued', 'jadwal runs/s', 'a minute', 'bare runs/s', 'ratio'], ...ratios])}

CPU time per run in µs (medians; the machine has two cores):

${table([['', ...WHO, 'sum'], ...costs])}`)
await db.destroy()
redis.disconnect()
