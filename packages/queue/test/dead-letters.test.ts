import { randomUUID } from 'node:crypto'
import { redriveRunId, systemClock } from '@jadwal/domain'
import { keys } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { sendRedrive } from '../src/send-redrive.ts'
import { Patience } from '../src/patience.ts'
import { redrivenRun } from '../src/redriven-run.ts'
import { anId, at, from, JOB, QUEUE, REQUEST, setup } from './setup-letters.ts'

test('a letter becomes a new run with all attempts before it, and leaves, and both are told', async () => {
  const { letters, bury, buried, bull, facts } = await setup()
  const parentId = randomUUID()
  const id = await bury({
    labels: { team: 'x' },
    attempts: 9,
    timeoutMs: 5,
    parentId,
    idempotencyKey: 'k',
  })
  const redrivenAs = redriveRunId(id)
  expect(await letters.redrive([at(id)], { ...REQUEST, redrive: parentId })).toEqual([
    { id, redrivenAs, isNew: true },
  ])
  expect(await buried()).toEqual([])
  const message = await bull(QUEUE).getJob(redrivenAs)
  expect(message).toMatchObject({ name: JOB, priority: 7, attemptsMade: 0, attemptsStarted: 0 })
  const data = { v: 1, payload: { n: 1 }, labels: { team: 'x' }, attempts: 9, timeoutMs: 5 }
  expect(message?.data).toEqual({ ...data, parentId, redriveOf: id })
  expect(await facts()).toEqual([
    expect.objectContaining({
      kind: 'run',
      id: redrivenAs,
      state: 'queued',
      redrive_of: id,
      parent_id: parentId,
      labels: { team: 'x' },
      priority: 7,
    }),
    {
      kind: 'letter',
      id,
      letter: { at: expect.any(String), by: 'ana', redrivenAs, redrive: parentId },
    },
  ])
})

test('a run of a schedule keeps its tick, counts as unfinished, and belongs to no backfill', async () => {
  const { letters, bury, bull, redis, prefix } = await setup()
  const schedule = { id: randomUUID(), name: 'hourly', tickAt: '2026-09-01T10:00:00.000Z' }
  const id = await bury({
    schedule: { ...schedule, term: 4, backfillId: randomUUID(), lateAt: schedule.tickAt },
  })
  await letters.redrive([at(id)], REQUEST)
  expect((await bull(QUEUE).getJob(redriveRunId(id)))?.data).toMatchObject({ schedule })
  expect((await bull(QUEUE).getJob(redriveRunId(id)))?.data.schedule).toEqual(schedule)
  const unfinished = await redis.smembers(keys.unfinishedKey(prefix, QUEUE, schedule.id))
  expect(unfinished).toEqual([redriveRunId(id)])
})

test('redriven again, also by many at once and after its new run has ended, a letter has the same one new run', async () => {
  const { letters, open, bury, buried, bull, waiting, facts } = await setup()
  const ids = await Promise.all(Array.from({ length: 150 }, () => bury()))
  const others = await Promise.all([open(), open(), open()])
  const all = await Promise.all(
    [letters, ...others.map((each) => each.letters)].map((each) =>
      each.redrive(ids.map(at), REQUEST),
    ),
  )
  for (const results of all)
    expect(results.map((result) => 'redrivenAs' in result && result.redrivenAs)).toEqual(
      ids.map(redriveRunId),
    )
  expect(await buried()).toEqual([])
  expect(new Set(await waiting()).size).toBe(150)
  const told = (await facts()).filter(({ kind }) => kind === 'letter')
  expect(new Set(told.map(({ id }) => id)).size).toBe(150)
  await bull(QUEUE).obliterate({ force: true })
  const again = await letters.redrive(ids.map(at), REQUEST)
  expect(again.every((result) => 'isNew' in result && !result.isNew)).toBe(true)
  expect(await waiting()).toEqual([])
})

test('where the job has moved, the new run goes there', async () => {
  const { letters, bury, buried, waiting, facts } = await setup()
  const id = await bury()
  expect(await letters.redrive([at(id)], from('reports'))).toMatchObject([{ isNew: true }])
  expect([await buried(), await waiting(), await waiting('reports')]).toEqual([
    [],
    [],
    [redriveRunId(id)],
  ])
  expect(await facts('reports')).toMatchObject([{ kind: 'run', queue: 'reports' }])
  expect(await facts()).toMatchObject([{ kind: 'letter' }])
})

test('of many who redrive letters to where their job has moved, one has done it', async () => {
  const { letters, open, bury, waiting } = await setup()
  const ids = await Promise.all(Array.from({ length: 20 }, () => bury()))
  const others = await Promise.all([open(), open()])
  const all = await Promise.all(
    [letters, ...others.map((each) => each.letters)].map((each) =>
      each.redrive(ids.map(at), from('reports')),
    ),
  )
  const isDone = all.flat().filter((result) => 'isNew' in result && result.isNew)
  expect(isDone.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  expect((await waiting('reports')).toSorted()).toEqual(ids.map(redriveRunId).toSorted())
})

test.each([[['claim']], [['claim', 'add']]] as const)(
  'what died after %j is finished by the next, into the queue that was said first',
  async (steps) => {
    const { letters, redis, prefix, bull, bury, buried, waiting } = await setup()
    const id = await bury()
    const decider = { by: 'ana', nowMs: systemClock.now().getTime() }
    const copy = { job: JOB, message: { v: 1, payload: {} } as const, priority: 0 }
    const run = redrivenRun(id, copy, { to: { queue: 'reports' }, cipher: undefined, nowMs: 0 })
    const deps = { redis, prefix, patience: new Patience(redis) }
    await bull('reports').waitUntilReady()
    for (const step of steps) {
      const keysOf = step === 'add' ? 'reports' : QUEUE
      const call = { steps: step, keysOf, queue: bull('reports'), decider } as const
      await sendRedrive(deps, call, [{ id, job: JOB, priority: 0, run, hasEnded: false }])
    }
    expect(await buried()).toEqual([id])
    expect(await letters.redrive([at(id)], from('invoices'))).toMatchObject([{ isNew: true }])
    expect(await buried()).toEqual([])
    expect(await waiting('reports')).toEqual([redriveRunId(id)])
    expect(await waiting('invoices')).toEqual([])
  },
)

test('a new run that can not be put into its queue leaves the letter where it is', async () => {
  const { letters, redis, prefix, bury, buried, waiting } = await setup()
  const id = await bury()
  const blocked = keys.bullKey(prefix, QUEUE, 'prioritized')
  await redis.set(blocked, 'no set')
  await expect(letters.redrive([at(id)], REQUEST)).rejects.toThrow(/WRONGTYPE/)
  expect(await buried()).toEqual([id])
  await redis.del(blocked)
  await letters.redrive([at(id)], REQUEST)
  expect([await buried(), await waiting()]).toEqual([[], [redriveRunId(id)]])
})

test('a letter that Redis lost is redriven from its copy, unless its new run is known', async () => {
  const { letters, waiting, facts } = await setup()
  const copy = { job: JOB, message: { v: 1, payload: { n: 2 } } as const, priority: 0 }
  const [lost, made] = [anId(), anId()]
  const results = await letters.redrive(
    [
      { id: lost, queue: QUEUE, copy },
      { id: made, queue: QUEUE, copy, hasEnded: true },
      { id: anId(), queue: QUEUE },
    ],
    REQUEST,
  )
  expect(results).toMatchObject([
    { redrivenAs: redriveRunId(lost) },
    { redrivenAs: redriveRunId(made) },
    { refused: 'no-letter' },
  ])
  expect(await waiting()).toEqual([redriveRunId(lost)])
  expect((await facts()).map(({ kind, id }) => [kind, id])).toEqual([
    ['run', redriveRunId(lost)],
    ['letter', lost],
    ['letter', made],
  ])
})

test('a letter whose job nobody serves stays', async () => {
  const { letters, bury, buried } = await setup()
  const id = await bury()
  const refused = { id, refused: 'unknown-job', job: JOB }
  expect(await letters.redrive([at(id)], from(undefined))).toEqual([refused])
  expect(await buried()).toEqual([id])
})

test('what was decided is told again when somebody redrives a letter that is gone, so that a lost fact comes back', async () => {
  const { letters, redis, prefix, bury, facts } = await setup()
  const [redriven, discarded] = [await bury(), await bury()]
  await letters.redrive([at(redriven)], REQUEST)
  await letters.discard([at(discarded)], { by: 'ana', reason: 'a "test" \u0000 of all: \\ ü' })
  const told = (await facts()).filter(({ kind }) => kind === 'letter')
  const copy = { job: JOB, message: { v: 1, payload: {} } as const, priority: 0 }
  const gone = [redriven, discarded].map((id) => ({ id, queue: QUEUE, copy }))
  for (const queue of [QUEUE, undefined, 'reports']) {
    await redis.del(keys.outboxKey(prefix, QUEUE))
    await letters.redrive(gone, from(queue))
    const again = await facts()
    expect(again).toHaveLength(2)
    expect(again).toEqual([
      { ...told[0], letter: { ...told[0].letter, at: expect.any(String) } },
      told[1],
    ])
  }
})
