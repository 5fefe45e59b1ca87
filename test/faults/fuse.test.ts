import { keys } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { checkRuns } from '../ledger/check-runs.ts'
import { JOBS, setupSystem } from '../support/system.ts'

const RUNS = 500
const CONCURRENCY = 10
/** Of the job: so many attempts open the fuse, and so often a run is tried. */
const MIN_ATTEMPTS = 10
const ATTEMPTS = 4
const PATIENT = { timeoutMs: 60_000, everyMs: 100 }

interface Call {
  what: string
  runId: string
  pid: number
  state: string
}

async function setup() {
  // Longer than a busy machine lets an event loop wait: no attempt but that of the killed worker is lost.
  const system = await setupSystem({ env: { JADWAL_LOCK_MS: '5000' } })
  const { redis, prefix } = system
  const { name, queue } = JOBS.partner
  return {
    ...system,
    startWorker: () => system.start('worker', { JADWAL_QUEUES: `partners:${CONCURRENCY}` }),
    partnerIs: (state: 'up' | 'down' | 'stalled') => redis.set(`${prefix}:partner`, state),
    /** What has reached the partner, in the order in which it did. */
    async calls(): Promise<Call[]> {
      const lines = await redis.lrange(`${prefix}:calls`, 0, -1)
      return lines.map((line) => {
        const [what = '', runId = '', , pid, state = ''] = line.split(' ')
        return { what, runId, pid: Number(pid), state }
      })
    },
    async fuse(): Promise<Record<string, string>> {
      return await redis.hgetall(keys.fuseKey(prefix, queue, name))
    },
    parked: () => redis.llen(keys.parkedKey(prefix, queue, keys.fuseLot(name))),
    async events(): Promise<string[]> {
      const entries = await redis.xrange(keys.eventsKey(prefix), '-', '+')
      return entries.map(([, fields]) => fields[1] ?? '')
    },
  }
}

const began = (calls: readonly Call[], state: string): Call[] =>
  calls.filter((call) => call.what === 'began' && call.state === state)

test('a partner that is down is left alone, probed, and not stormed when it is back', async () => {
  const system = await setup()
  const { producer, start, startWorker, partnerIs, parked } = system
  await partnerIs('down')
  const workers = [startWorker(), startWorker()]
  await Promise.all([start('recorder').ready, ...workers.map((worker) => worker.ready)])
  const payloads = Array.from({ length: RUNS }, () => ({}))
  const ids = await producer.enqueueMany(JOBS.partner, payloads)

  // Two probes have failed, and all that waited is parked.
  await eventually(async () => {
    expect(Number((await system.fuse())['times'])).toBeGreaterThanOrEqual(3)
    expect(await parked()).toBeGreaterThan(RUNS * 0.9)
  }, PATIENT)
  await partnerIs('stalled')
  // The next probe gets no answer, and its worker is killed.
  const [stalled] = await eventually(async () => {
    const found = began(await system.calls(), 'stalled')
    expect(found).toHaveLength(1)
    return found
  }, PATIENT)
  const times = Number((await system.fuse())['times'])
  // What was under way when the fuse opened, in either worker, and one run a probe.
  const bound = MIN_ATTEMPTS + 2 * 3 * CONCURRENCY + times
  expect(began(await system.calls(), 'down').length).toBeLessThanOrEqual(bound)
  expect((await system.fuse())['state']).toBe('probing')
  await partnerIs('up')
  const killed = workers.find((worker) => worker.pid === stalled?.pid)
  await killed?.kill()
  expect(killed).toBeDefined()
  await startWorker().ready
  await system.ended(RUNS, 90_000)

  const rows = await system.rows()
  const report = checkRuns(ids, rows)
  expect(report).toMatchObject({ missing: [], doubled: [], unexpected: [] })
  expect(report.states).toEqual({ succeeded: RUNS })
  expect(await parked()).toBe(0)
  expect([...new Set(await system.events())]).toEqual(['fuse.opened', 'fuse.closed'])

  // Parked starts are no attempts; the killed probe has one more.
  for (const { id, attempt } of rows)
    expect(attempt).toBeLessThanOrEqual(ATTEMPTS + (id === stalled?.runId ? 1 : 0))
  const attempts = await system.database.db
    .selectFrom('attempts')
    .select(['run_id', 'state'])
    .execute()
  expect(attempts.filter(({ state }) => state === 'lost')).toEqual([
    { run_id: stalled?.runId, state: 'lost' },
  ])
  const failed = attempts.filter(({ state }) => state === 'failed')
  expect(failed).toHaveLength(began(await system.calls(), 'down').length)

  // One, then ten, then a hundred, each begun when those before had ended.
  const up = (await system.calls()).filter(({ state }) => state === 'up')
  let underWay = 0
  let begun = 0
  const startsOfSteps = new Map<number, number>()
  for (const { what } of up) {
    underWay += what === 'began' ? 1 : -1
    if (what !== 'began') continue
    begun += 1
    startsOfSteps.set(begun, underWay)
  }
  for (const first of [1, 2, 12, 112]) expect(startsOfSteps.get(first)).toBe(1)
})
