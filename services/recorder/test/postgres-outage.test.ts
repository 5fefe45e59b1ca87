import { migrate } from '@jadwal/db'
import {
  asAdmin,
  eventually,
  startTestPostgres,
  TEMPLATE_DATABASE,
  databaseUrl,
} from '@jadwal/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { runFacts, setup } from './recorder-bench.ts'

test(
  'facts wait while Postgres is away, without a busy loop; then all are there, none twice',
  { timeout: 60_000 },
  async () => {
    const postgres = await startTestPostgres()
    onTestFinished(() => postgres[Symbol.asyncDispose]())
    await asAdmin(postgres.url, `CREATE DATABASE ${TEMPLATE_DATABASE}`)
    await migrate({
      url: databaseUrl(postgres.url, TEMPLATE_DATABASE),
      schema: 'jadwal',
      now: new Date('2026-09-01T12:00:00Z'),
    })
    const { put, startRecorder, everythingRecorded, redis, outbox } = await setup({
      databaseUrl: postgres.url,
    })
    const { outages, metric } = await startRecorder()
    const facts = runFacts(60)
    await put(...facts.slice(0, 20))
    await everythingRecorded(facts.slice(0, 20).map(({ id }) => id))

    await postgres.stop()
    for (const fact of facts.slice(20)) await put(fact)
    await eventually(async () => {
      expect(outages.length).toBeGreaterThan(2)
      expect(await metric('jadwal_outbox_lag_seconds')).toBeGreaterThan(0.5)
    })
    expect(await redis.xlen(outbox)).toBe(40)
    expect(outages.length).toBeLessThan(30)

    await postgres.start()
    await everythingRecorded(
      facts.map(({ id }) => id),
      20_000,
    )
    expect(await metric('jadwal_recorded_facts_total')).toBe(60)
  },
)
