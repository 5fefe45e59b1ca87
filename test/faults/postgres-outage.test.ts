import { applySchedules, migrate } from '@jadwal/db'
import {
  asAdmin,
  eventually,
  startTestPostgres,
  TEMPLATE_DATABASE,
  databaseUrl,
} from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { checkRuns } from '../ledger/check-runs.ts'
import { expectHistory } from '../support/expect-order.ts'
import { JOBS, setupSystem } from '../support/system.ts'

const OUTAGE_MS = 20_000
/** No tick waits for Postgres: far less than the outage, with a take-over in it, on a busy machine. */
const LATE_MS = 15_000

test('Postgres away for 20 s under load, and the leader killed: runs and ticks go on, and afterwards every row is there, once', async () => {
  const postgres = await startTestPostgres()
  onTestFinished(() => postgres[Symbol.asyncDispose]())
  await asAdmin(postgres.url, `CREATE DATABASE ${TEMPLATE_DATABASE}`)
  await migrate({
    url: databaseUrl(postgres.url, TEMPLATE_DATABASE),
    schema: 'jadwal',
    now: new Date(),
  })
  const { producer, start, rows, executions, database } = await setupSystem({
    databaseUrl: postgres.url,
    // No worker dies here, and however busy the machine is, each run is executed once.
    env: { JADWAL_LOCK_MS: '30000' },
  })
  const recorder = start('recorder')
  await Promise.all([recorder.ready, start('worker').ready])
  await applySchedules(database.db, {
    schedules: Array.from({ length: 20 }, (_, n) => ({
      name: `every-second-${n}`,
      input: { job: JOBS.quick.name, every: '1s', overlap: 'allow', payload: { n } },
    })),
    prune: false,
    source: 'file',
    author: 'test',
  })
  const leader = start('scheduler')
  await leader.ready
  await leader.waitForLog('leading')
  await start('scheduler').ready
  const own = async () => {
    const enqueued = new Set(ids)
    return (await rows()).filter(({ id }) => enqueued.has(id))
  }
  const firingMs = Date.now()
  const ids: string[] = []
  const enqueue = async (): Promise<void> => {
    ids.push(
      ...(await producer.enqueueMany(
        JOBS.work,
        Array.from({ length: 50 }, () => ({})),
      )),
    )
  }
  await enqueue()
  await eventually(async () => expect((await own()).length).toBeGreaterThan(0))

  await postgres.stop()
  // A take-over needs no Postgres.
  await leader.kill()
  const until = Date.now() + OUTAGE_MS
  while (Date.now() < until) {
    await enqueue()
    // Runs go on while Postgres is away: what was enqueued has been executed.
    await eventually(async () => expect(await executions()).toHaveLength(ids.length))
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const during = recorder.logs.filter(
    (line) => line.includes('"level":"warn"') || line.includes('"level":"error"'),
  )
  expect(during.length).toBeLessThan(20)
  expect(recorder.child.exitCode).toBeNull()

  await postgres.start()
  await enqueue()
  const upMs = Date.now()
  await eventually(
    async () =>
      expect(checkRuns(ids, await own())).toMatchObject({
        missing: [],
        doubled: [],
        states: { succeeded: ids.length },
      }),
    { timeoutMs: 60_000, everyMs: 250 },
  )
  await expectHistory(database.db, { lateMs: LATE_MS, lateFromMs: firingMs, untilMs: upMs })
}, 240_000)
