import { randomBytes, randomUUID } from 'node:crypto'
import { newRunId, redriveRunId, type RunMessage, systemClock } from '@jadwal/domain'
import {
  createDeadLetters,
  deadLetterFields,
  keys,
  locateLetters,
  openRedis,
  producerConnection,
  type RedriveRequest,
  redisReady,
} from '@jadwal/queue'
import { Queue } from 'bullmq'
import { expect, inject, onTestFinished, test } from 'vitest'
import { sendRedrive } from '../src/send-redrive.ts'
import { Patience } from '../src/patience.ts'
import { redrivenRun } from '../src/redriven-run.ts'

const QUEUE = 'emails'
const JOB = 'email.send'

async function setup() {
  const prefix = `letters-${randomBytes(4).toString('hex')}`
  const open = async () => {
    const redis = openRedis(producerConnection(inject('redisUrl')), () => undefined)
    await redisReady(redis, 10_000)
    const letters = createDeadLetters({ redis, prefix, clock: systemClock, onError: () => {} })
    onTestFinished(async () => {
      await letters.close()
      redis.disconnect()
    })
    return { redis, letters }
  }
  const { redis, letters } = await open()
  const bull = (queue: string): Queue => {
    const opened = new Queue(queue, {
      connection: redis,
      prefix: keys.bullPrefix(prefix, queue),
      skipMetasUpdate: true,
    })
    onTestFinished(() => opened.close())
    return opened
  }
  /** A dead letter as a worker writes it. */
  const bury = async (about: Partial<RunMessage> = {}, id = anId()): Promise<string> => {
    const data = { v: 1, payload: { n: 1 }, ...about }
    const at = systemClock.now().toISOString()
    const death = { reason: 'failed', attempt: 3, at } as const
    const fields = { job: JOB, data, enqueuedAtMs: 0, failures: 3, priority: 7, death }
    await redis.hset(keys.deadKey(prefix, QUEUE, id), deadLetterFields(fields))
    await redis.lpush(keys.deadKey(prefix, QUEUE, 'wait'), id)
    return id
  }
  const buried = async (): Promise<string[]> =>
    await redis.lrange(keys.deadKey(prefix, QUEUE, 'wait'), 0, -1)
  const waiting = async (queue = QUEUE): Promise<string[]> => {
    const found = await bull(queue).getJobs(['waiting', 'prioritized'])
    return found.map(({ id }) => id ?? '')
  }
  // oxlint-disable-next-line typescript/no-explicit-any -- facts of every kind
  const facts = async (queue = QUEUE): Promise<any[]> =>
    (await redis.xrange(keys.outboxKey(prefix, queue), '-', '+')).flatMap(([, [, text = '']]) =>
      text.split('\n').map((line) => JSON.parse(line) as unknown),
    )
  return { prefix, redis, letters, open, bull, bury, buried, waiting, facts }
}

const at = (id: string) => ({ id, queue: QUEUE })

function anId(): string {
  return newRunId(systemClock.now().getTime(), randomBytes(10))
}

const from = (queue: string | undefined): Omit<RedriveRequest, 'nowMs'> => ({
  by: 'ana',
  queueOf: () => queue,
})
const REQUEST = from(QUEUE)

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
  expect((await facts()).filter(({ kind }) => kind === 'letter')).toHaveLength(150)
  await bull(QUEUE).obliterate({ force: true })
  const again = await letters.redrive(ids.map(at), REQUEST)
  expect(again.every((result) => 'isNew' in result && !result.isNew)).toBe(true)
  expect(await waiting()).toEqual([])
}, 30_000)

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

test.each([[['claim']], [['claim', 'add']]] as const)(
  'what died after %j is finished by the next, into the queue that was said first',
  async (steps) => {
    const { letters, redis, prefix, bull, bury, buried, waiting } = await setup()
    const id = await bury()
    const decider = { by: 'ana', nowMs: systemClock.now().getTime() }
    const copy = { job: JOB, message: { v: 1, payload: {} } as const, priority: 0 }
    const run = redrivenRun(id, copy, { queue: 'reports', nowMs: 0 })
    const deps = { redis, prefix, patience: new Patience(redis) }
    await bull('reports').waitUntilReady()
    for (const step of steps) {
      const slot = step === 'add' ? 'reports' : QUEUE
      const call = { steps: step, slot, queue: bull('reports'), decider } as const
      await sendRedrive(deps, call, [{ id, job: JOB, priority: 0, run, isMade: false }])
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
      { id: made, queue: QUEUE, copy, isMade: true },
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

test('a discarded letter leaves with its reason, and what was decided first holds', async () => {
  const { letters, redis, prefix, bury, buried, facts } = await setup()
  const [one, other] = [await bury(), await bury()]
  const decision = { by: 'ana', reason: 'a test order' }
  expect(await letters.discard([at(one)], decision)).toEqual([
    { id: one, discarded: true, isNew: true },
  ])
  expect(await letters.discard([at(one)], decision)).toMatchObject([{ isNew: false }])
  expect(await buried()).toEqual([other])
  expect(await facts()).toEqual([
    { kind: 'letter', id: one, letter: { at: expect.any(String), ...decision } },
  ])
  const refused = [{ id: one, refused: 'discarded' }]
  expect(await letters.redrive([at(one)], REQUEST)).toEqual(refused)
  expect(await letters.redrive([at(one)], from(undefined))).toEqual(refused)
  await letters.redrive([at(other)], REQUEST)
  expect(await letters.discard([at(other)], decision)).toEqual([
    { id: other, discarded: false, redrivenAs: redriveRunId(other) },
  ])
  const queues = ['reports', QUEUE]
  const located = await locateLetters(redis, prefix, { ids: [one, other, anId()], queues })
  expect([...located]).toEqual([
    [one, QUEUE],
    [other, QUEUE],
  ])
})
