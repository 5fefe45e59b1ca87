import { readFileSync } from 'node:fs'
import { type Db, listRuns, openDatabase } from '@jadwal/db'
import { sql } from 'kysely'
import type { Ask } from './history-ask.ts'
import { openHistory } from './history-database.ts'
import { DAYS, randomNumbers } from './history-rows.ts'
import { searches } from './history-searches.ts'
import { grouped, quantile, table } from './table.ts'

/**
 * The search of the history on 10 million runs over 30 days: `listRuns` with each filter, many values of
 * each, from Node.js to the last row with its attempts. Cold: the first searches on a Postgres that was
 * just started, by a connection that is new. Ends with 1 when 95 of 100 searches of a filter take 100 ms or more.
 */
const ROWS = Number(process.env['BENCH_ROWS'] ?? 10_000_000)
/** Searches with each filter. */
const TIMES = Number(process.env['BENCH_TIMES'] ?? 40)
const COLD_TIMES = 5
const LIMIT_MS = 100

const random = randomNumbers(4711)

interface Took {
  ms: number
  /** CPU time of Postgres and of this process, in ms: what the search itself costs, whatever else the machine does. */
  cpuMs: number
  found: number
}

async function timeOf(db: Db, ask: Ask, pid: number): Promise<Took> {
  const { filters, page = {} } = ask(random)
  const startMs = performance.now()
  const startCpuMs = cpuMsOf(pid)
  const { items } = await listRuns(db, filters, page)
  return {
    ms: performance.now() - startMs,
    cpuMs: cpuMsOf(pid) - startCpuMs,
    found: items.length,
  }
}

/** Of a backend and of this process. */
function cpuMsOf(pid: number): number {
  const [ns = '0'] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
  const { user, system } = process.cpuUsage()
  return Number(ns) / 1e6 + (user + system) / 1e3
}

async function connect(): Promise<{ db: Db; pid: number }> {
  const db = openDatabase({ url: history.url, schema: 'jadwal', max: 1 })
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db)
  return { db, pid: rows[0]?.pid ?? 0 }
}

const wanted = Object.entries(searches(ROWS / DAYS)).filter(([name]) =>
  name.includes(process.env['BENCH_FILTER'] ?? ''),
)
await using history = await openHistory(ROWS, process.env['BENCH_HISTORY'])
const cold = new Map<string, number[]>()
for (let round = 0; round < COLD_TIMES; round++) {
  await history.restart()
  const { db, pid } = await connect()
  for (const [name, ask] of wanted)
    cold.set(name, [...(cold.get(name) ?? []), (await timeOf(db, ask, pid)).ms])
  await db.destroy()
}
const { db, pid } = await connect()
const rows: string[][] = []
const tooSlow: string[] = []
for (const [name, ask] of wanted) {
  const times: number[] = []
  const cpu: number[] = []
  let found = 0
  for (let n = 0; n < TIMES; n++) {
    const took = await timeOf(db, ask, pid)
    times.push(took.ms)
    cpu.push(took.cpuMs)
    found += took.found
  }
  const p95 = quantile(times, 0.95)
  if (p95 >= LIMIT_MS) tooSlow.push(name)
  const figures = [
    quantile(times, 0.5),
    p95,
    Math.max(...times),
    quantile(cpu, 0.95),
    Math.max(...(cold.get(name) ?? [])),
  ]
  rows.push([name, (found / TIMES).toFixed(1), ...figures.map((ms) => ms.toFixed(1))])
}
await db.destroy()
console.log(`
${grouped(ROWS)} runs over ${DAYS} days, ${TIMES} searches each, in ms. Cold: the slowest of ${COLD_TIMES}, each on a Postgres that has just been started.

${table([['search', 'found', 'p50', 'p95', 'max', 'CPU p95', 'cold'], ...rows])}
`)
if (tooSlow.length > 0) {
  console.log(`p95 of ${LIMIT_MS} ms or more: ${tooSlow.join('; ')}`)
  process.exitCode = 1
}
