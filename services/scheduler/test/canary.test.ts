import { recordFacts } from '@jadwal/db'
import { MINUTE, redriveRunId } from '@jadwal/domain'
import { expect, test } from 'vitest'
import { CAUSE, deadFact, NOW, setup } from './setup-redrives.ts'

test('a canary goes with one, then ten, then the rest, each when the runs before have ended, whoever leads', async () => {
  const t = await setup()
  await t.die(15)
  const id = await t.redrive({ canary: true })
  const rounds = async (): Promise<void> => {
    for (const leader of [t.lead(), t.lead()]) {
      await leader.round()
      await leader.round()
    }
  }
  await rounds()
  await rounds()
  expect(await t.finish()).toBe(1)
  await rounds()
  expect(await t.finish('another cause')).toBe(10)
  await rounds()
  expect(await t.finish()).toBe(4)
  await rounds()
  expect(await t.find(id)).toMatchObject({ state: 'done' })
})

test('a canary stops when a run of it dies of the cause of its letter, in any step', async () => {
  const t = await setup()
  for (const size of [1, 10, 4]) {
    const id = await t.redrive({ canary: true })
    await t.die(15)
    for (;;) {
      for (let round = 0; round < 3; round += 1) await t.lead().round()
      if ((await t.waiting()).length === size) break
      expect(await t.finish()).toBeGreaterThan(0)
    }
    await t.finish(CAUSE)
    await t.lead().round()
    expect(await t.find(id)).toMatchObject({
      state: 'stopped',
      returned_fingerprint: CAUSE,
      returned_run: expect.any(String),
    })
    await t.db.deleteFrom('runs').execute()
  }
})

test('a canary whose letter was discarded meanwhile goes on with others', async () => {
  const t = await setup()
  const [first = ''] = await t.die(2)
  const id = await t.redrive({ canary: true, step: 1, canary_letters: [first] })
  const letter = { at: new Date(NOW).toISOString(), by: 'bo', reason: 'a test' }
  await recordFacts(t.db, [JSON.stringify({ kind: 'letter', id: first, letter })])
  const leader = t.lead()
  for (let round = 0; round < 3; round += 1) await leader.round()
  expect(await t.find(id)).toMatchObject({ step: 2 })
  expect(await t.finish()).toBe(1)
})

test('a canary stops also when the clock of a worker is behind', async () => {
  const t = await setup()
  await t.die(2)
  const id = await t.redrive({ canary: true })
  await t.lead().round()
  await t.lead().round()
  expect(await t.finish(CAUSE, -30_000)).toBe(1)
  await t.lead().round()
  expect(await t.find(id)).toMatchObject({ state: 'stopped', returned_fingerprint: CAUSE })
})

test('a canary tries letters whose job somebody serves, and is not held up by others', async () => {
  const t = await setup()
  const [gone = ''] = await t.die(12, { job: 'gone' })
  await t.die(3)
  await t.redrive({ canary: true })
  const leader = t.lead()
  for (let round = 0; round < 4; round += 1) await leader.round()
  expect(await t.waiting()).toHaveLength(1)

  const other = await t.redrive({ canary: true, step: 1, canary_letters: [gone] })
  for (let round = 0; round < 2; round += 1) await leader.round()
  expect(await t.find(other)).toMatchObject({ step: 2, refused: 1 })
})

test('a canary waits for its first letter until every death from before is recorded', async () => {
  const t = await setup()
  // After what lies in the outbox, however long this takes.
  const created_at = new Date(t.redisClock.nowMs() + 10 * MINUTE)
  const id = await t.redrive({ canary: true, created_at })
  const [late, last] = [deadFact(0), deadFact(1)]
  await t.redis.xadd(t.outbox, '*', 'facts', JSON.stringify(late))
  const leader = t.lead()
  for (let round = 0; round < 3; round += 1) await leader.round()
  expect(await t.find(id)).toMatchObject({ step: 0 })
  await t.recordOutbox()
  await t.record([last])
  await leader.round()
  await leader.round()
  expect(await t.find(id)).toMatchObject({ step: 1, canary_letters: [late.id] })
  expect(await t.waiting()).toEqual([redriveRunId(late.id)])
})
