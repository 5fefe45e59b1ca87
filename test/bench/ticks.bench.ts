import { applySchedules, openDatabase } from '@jadwal/db'
import { keys, publishCatalogue } from '@jadwal/queue'
import { eventually, type ServiceProcess, spawnService } from '@jadwal/testkit'
import { Redis } from 'ioredis'
import { cpuSeconds, residentMiB } from './cpu-time.ts'
import { grouped, median, quantile, table } from './table.ts'

/**
 * How long 10,000 schedules on 100 cadences that are due in the same second take to be in their queue,
 * how late 1,000 schedules are that are due each second for a minute, and how soon after the kill of a leader of 100,000 schedules on 1,000 cadences its successor fires.
 * Two schedulers, and nothing else but the servers.
 */
const DUE = { schedules: 10_000, cadences: 100, ticks: 5 }
const STEADY = { schedules: 1_000, seconds: 60 }
const MANY = { schedules: 100_000, cadences: 1_000, kills: 3 }
const LEASE_MS = 1_000
/** Schedules that one transaction applies. */
const APPLY = 5_000

const redisUrl = process.env['REDIS_URL'] ?? ''
const databaseUrl = process.env['DATABASE_URL'] ?? ''
const db = openDatabase({ url: databaseUrl, schema: 'jadwal', max: 1 })
const redis = new Redis(redisUrl)

type Schedule = Parameters<typeof applySchedules>[1]['schedules'][number]

async function setUp(prefix: string, schedules: readonly Schedule[]) {
  const backoff = { type: 'exponential', delayMs: 1, maxDelayMs: 1, jitter: 0 } as const
  const job = { attempts: 1, backoff, timeoutMs: 1_000, payloadSchema: {} }
  await publishCatalogue(redis, prefix, [
    { ...job, name: 'due', queue: 'due' },
    { ...job, name: 'probe', queue: 'probe' },
  ])
  const startMs = performance.now()
  for (let at = 0; at < schedules.length; at += APPLY) {
    const part = schedules.slice(at, at + APPLY)
    await applySchedules(db, { schedules: part, prune: at === 0, source: 'file', author: 'bench' })
  }
  const applyMs = performance.now() - startMs
  const env = {
    REDIS_URL: redisUrl,
    DATABASE_URL: databaseUrl,
    JADWAL_PREFIX: prefix,
    JADWAL_LEASE_MS: String(LEASE_MS),
    JADWAL_LOG_LEVEL: 'warn',
  }
  const start = async (): Promise<ServiceProcess> => {
    const scheduler = spawnService('scheduler', env)
    await scheduler.ready
    return scheduler
  }
  const running = [await start(), await start()]
  const leader = (): Promise<ServiceProcess> =>
    eventually(
      async () => {
        const { instance = '', ended } = await redis.hgetall(keys.leaderKey(prefix))
        const found = running.find(({ pid }) => instance.includes(`-${pid}-`))
        if (!found || ended !== undefined) throw new Error(`${instance || 'nobody'} leads`)
        return found
      },
      { timeoutMs: 60_000 },
    )
  const waiting = (queue: string): Promise<number> =>
    redis.llen(keys.bullKey(prefix, queue, 'wait'))
  return { running, start, leader, waiting, applyMs }
}

/** Minutes that make a cadence of their own out of a number below 400. */
function minutes(number: number): string {
  const first = 20 + (number % 20)
  return `${first},${40 + (Math.floor(number / 20) % 20)}`
}

async function measureDue(): Promise<number[]> {
  const { schedules, cadences, ticks } = DUE
  // Of the cadences' minutes, all have these four in common; in each, two seconds.
  const minute = new Date().getMinutes()
  const shared = [1, 2, 3, 4].map((after) => (minute + after) % 60).join(',')
  const names = Array.from({ length: schedules }, (_, at): Schedule => {
    const others = minutes(at % cadences)
    const cron = `5,35 ${shared},${others} * * * *`
    return { name: `due-${at}`, input: { job: 'due', cron, overlap: 'allow' } }
  })
  const { running, leader, waiting } = await setUp('ticks-due', names)
  const leading = await leader()
  const lateMs: number[] = []
  let before = await waiting('due')
  while (lateMs.length < ticks) {
    const tickMs = nextTickMs()
    await new Promise((resolve) => setTimeout(resolve, tickMs - Date.now() - 1_000))
    before = await waiting('due')
    const cpuBefore = cpuSeconds(leading.pid)
    await eventually(
      async () => {
        const fired = (await waiting('due')) - before
        if (fired < schedules) throw new Error(`${fired} of ${schedules} fired`)
      },
      { timeoutMs: 90_000, everyMs: 5 },
    )
    // The first minute may be one in which nothing is due yet.
    const late = Date.now() - tickMs
    if (late < 20_000) lateMs.push(late)
    const cpuMs = (cpuSeconds(leading.pid) - cpuBefore) * 1_000
    process.stderr.write(
      `last of ${schedules} in its queue after ${late} ms (leader ${cpuMs.toFixed(0)} ms CPU)\n`,
    )
  }
  process.stderr.write(`leader of ${schedules}: ${residentMiB(leading.pid).toFixed(0)} MiB\n`)
  await Promise.all(running.map((scheduler) => scheduler.kill()))
  return lateMs
}

/** Of each tick of a minute, how long after its instant it was in its queue, by the clock of Redis. */
async function measureSteady(): Promise<number[]> {
  const { schedules, seconds } = STEADY
  const names = Array.from({ length: schedules }, (_, at): Schedule => {
    return { name: `steady-${at}`, input: { job: 'due', every: '1s', overlap: 'allow' } }
  })
  const { running, leader, waiting } = await setUp('ticks-steady', names)
  const leading = await leader()
  const fired = async (ticks: number): Promise<void> => {
    if ((await waiting('due')) < ticks * schedules) throw new Error('not all were fired')
  }
  await eventually(() => fired(5), { timeoutMs: 60_000 })
  const cpuBefore = cpuSeconds(leading.pid)
  const startMs = Date.now()
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  const cpuMs = (cpuSeconds(leading.pid) - cpuBefore) * 1_000
  const micros = (cpuMs * 1_000) / schedules / seconds
  process.stderr.write(`leader ${micros.toFixed(0)} µs CPU a tick\n`)
  await Promise.all(running.map((scheduler) => scheduler.kill()))
  const lateMs: number[] = []
  const outbox = keys.outboxKey('ticks-steady', 'due')
  for (let from = '-'; ;) {
    const entries = await redis.xrange(outbox, from, '+', 'COUNT', 100)
    for (const [entry, [, facts = '']] of entries) {
      from = `(${entry}`
      for (const line of facts.split('\n')) {
        const tickMs = Date.parse((JSON.parse(line) as { tick_at: string }).tick_at)
        if (tickMs >= startMs && tickMs < startMs + (seconds - 1) * 1_000)
          lateMs.push(Number.parseInt(entry) - tickMs)
      }
    }
    if (entries.length === 0) return lateMs
  }
}

function nextTickMs(): number {
  const minuteMs = Math.floor((Date.now() + 1_500) / 60_000) * 60_000
  const ticks = [5_000, 35_000, 65_000].map((after) => minuteMs + after)
  return ticks.find((tickMs) => tickMs > Date.now() + 1_500) ?? NaN
}

async function measureTakeOver() {
  const { schedules, cadences, kills } = MANY
  const names = Array.from({ length: schedules }, (_, at): Schedule => {
    const number = at % cadences
    const cron = `${minutes(number)} ${Math.floor(number / 400)} 1 1 *`
    return { name: `many-${at}`, input: { job: 'due', cron } }
  })
  const probe = { name: 'probe', input: { job: 'probe', every: '1s', overlap: 'allow' } }
  const { running, start, leader, waiting, applyMs } = await setUp('ticks-many', [probe, ...names])
  const fires = (more: number, than: number): Promise<void> =>
    eventually(
      async () => {
        if ((await waiting('probe')) < than + more) throw new Error('nothing was fired')
      },
      { timeoutMs: 120_000, everyMs: 5 },
    )
  await fires(3, 0)
  const takeOversMs: number[] = []
  let memoryMiB = 0
  for (let kill = 0; kill < kills; kill++) {
    const leading = await leader()
    await fires(2, await waiting('probe'))
    memoryMiB = Math.max(memoryMiB, residentMiB(leading.pid))
    running.splice(running.indexOf(leading), 1)
    await leading.kill()
    const [killedAtMs, fired] = [performance.now(), await waiting('probe')]
    await fires(1, fired)
    takeOversMs.push(performance.now() - killedAtMs)
    process.stderr.write(`fired again ${Math.round(takeOversMs.at(-1) ?? 0)} ms after the kill\n`)
    running.push(await start())
  }
  await Promise.all(running.map((scheduler) => scheduler.kill()))
  return { takeOversMs, memoryMiB, applyMs }
}

const lateMs = await measureDue()
await redis.flushall()
const steadyMs = await measureSteady()
await redis.flushall()
const { takeOversMs, memoryMiB, applyMs } = await measureTakeOver()
const ms = (values: readonly number[]): string[] => [
  `${grouped(median(values))} ms`,
  `${grouped(Math.max(...values))} ms`,
]
console.log(`
${table([
  ['', 'median', 'worst', 'aim'],
  [
    `${grouped(DUE.schedules)} schedules, ${DUE.cadences} cadences: tick to last run queued`,
    ...ms(lateMs),
    '600 ms',
  ],
  [
    `${grouped(STEADY.schedules)} schedules each second for ${STEADY.seconds} s: tick to run queued`,
    ...ms(steadyMs),
    '',
  ],
  ['the same: 99 of 100 within', `${grouped(quantile(steadyMs, 0.99))} ms`, '', ''],
  [
    `${grouped(MANY.schedules)} schedules, ${grouped(MANY.cadences)} cadences: kill to next tick fired (lease ${grouped(LEASE_MS)} ms)`,
    ...ms(takeOversMs),
    '3,000 ms',
  ],
  ['memory of that leader', `${grouped(memoryMiB)} MiB`, '', '250 MiB'],
  ['applying those schedules', `${grouped(applyMs)} ms`, '', ''],
])}`)
await db.destroy()
redis.disconnect()
