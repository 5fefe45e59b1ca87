import { redriveRunId } from '@jadwal/domain'
import { expect, test, vi } from 'vitest'
import { CAUSE, NOW, setup } from './setup-redrives.ts'

test('redrives the letters that match and died before it was asked for, oldest first, and is done when all are recorded', async () => {
  const t = await setup()
  const ids = await t.die(3)
  await t.die(1, { job: 'other' })
  await t.die(1, { finished_at: new Date(NOW + 1_000).toISOString() })
  const id = await t.redrive({ filter: { job: 'email.send' } })
  const leader = t.lead()
  await leader.round()
  await leader.round()
  expect(await t.waiting()).toEqual(ids.map(redriveRunId))
  expect(await t.find(id)).toMatchObject({ state: 'running' })
  await t.recordOutbox()
  await leader.round()
  await leader.round()
  expect(await t.find(id)).toMatchObject({ state: 'done', refused: 0, problem: null })
})

test('a leader that takes over before anything was recorded makes no letter a second run', async () => {
  const t = await setup()
  const ids = await t.die(20)
  await t.redrive()
  await Promise.all([t.lead().round(), t.lead().round()])
  await t.lead().round()
  expect((await t.waiting()).toSorted()).toEqual(ids.map(redriveRunId).toSorted())
})

test('a letter whose job nobody serves is left, told, and counted', async () => {
  const t = await setup()
  await t.die(2, { job: 'gone' })
  const id = await t.redrive()
  await t.lead().round()
  expect(await t.find(id)).toMatchObject({
    state: 'done',
    refused: 2,
    problem: 'no worker has served the job gone yet',
  })
})

test('makes no more runs a second than its rate', async () => {
  const t = await setup()
  await t.die(20)
  await t.redrive({ rate: 4 })
  let nowMs = t.redisClock.nowMs()
  vi.spyOn(t.redisClock, 'nowMs').mockImplementation(() => nowMs)
  const leader = t.lead()
  for (let round = 0; round < 5; round += 1) await leader.round()
  expect(await t.waiting()).toHaveLength(2)
  nowMs += 500
  for (let round = 0; round < 5; round += 1) await leader.round()
  expect(await t.waiting()).toHaveLength(4)
})

test('ends also when what it decided got lost on its way to Postgres', async () => {
  const t = await setup()
  await t.die(3)
  const id = await t.redrive()
  await t.lead().round()
  await t.redis.del(t.outbox)
  const leader = t.lead()
  await leader.round()
  await leader.round()
  await t.recordOutbox()
  await leader.round()
  expect(await t.find(id)).toMatchObject({ state: 'done' })
  expect(await t.waiting()).toHaveLength(3)
})

test('walks no further while what it decided is not recorded', async () => {
  const t = await setup()
  await t.die(3)
  await t.redrive()
  const leader = t.lead()
  for (let round = 0; round < 5; round += 1) await leader.round()
  expect(await t.redis.xlen(t.outbox)).toBe(1)
})

test('does not redrive the runs that it made, also when the clock of a worker is behind', async () => {
  const t = await setup()
  await t.die(3)
  const id = await t.redrive()
  const leader = t.lead()
  await leader.round()
  expect(await t.finish(CAUSE, -30_000)).toBe(3)
  for (let round = 0; round < 3; round += 1) await leader.round()
  expect(await t.waiting()).toEqual([])
  expect(await t.find(id)).toMatchObject({ state: 'done' })
  const next = await t.redrive()
  await leader.round()
  expect(await t.waiting()).toHaveLength(3)
  expect(await t.find(next)).toMatchObject({ state: 'running' })
})

test('a run of a schedule whose letter Redis lost gets what its last version asks for', async () => {
  const t = await setup()
  const scheduleId = await t.schedule({ attempts: 7, timeoutMs: 4_000 })
  const [id = ''] = await t.die(1, { schedule_id: scheduleId, schedule: 'hourly' })
  await t.redrive()
  await t.lead().round()
  expect(await t.message(redriveRunId(id))).toMatchObject({ attempts: 7, timeoutMs: 4_000 })
})
