import { migrate } from '@jadwal/db'
import {
  asAdmin,
  eventually,
  startTestPostgres,
  TEMPLATE_DATABASE,
  databaseUrl,
} from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { checkRuns } from '../ledger/check-runs.ts'
import { JOBS, setupSystem } from '../support/system.ts'

const OUTAGE_MS = 20_000

test('Postgres away for 20 s under load: runs go on, and afterwards every row is there, once', async () => {
  const postgres = await startTestPostgres()
  onTestFinished(() => postgres[Symbol.asyncDispose]())
  await asAdmin(postgres.url, `CREATE DATABASE ${TEMPLATE_DATABASE}`)
  await migrate({
    url: databaseUrl(postgres.url, TEMPLATE_DATABASE),
    schema: 'jadwal',
    now: new Date(),
  })
  const { producer, start, rows, executions, ended } = await setupSystem({
    databaseUrl: postgres.url,
  })
  const recorder = start('recorder')
  await Promise.all([recorder.ready, start('worker').ready])
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
  await eventually(async () => expect((await rows()).length).toBeGreaterThan(0))

  await postgres.stop()
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
  await ended(ids.length, 60_000)
  const report = checkRuns(ids, await rows())
  expect(report).toMatchObject({
    missing: [],
    doubled: [],
    unexpected: [],
    states: { succeeded: ids.length },
  })
})
