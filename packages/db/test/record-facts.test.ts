import type { RunFact } from '@jadwal/domain'
import { createTestDatabase, type TestDatabase } from '@jadwal/testkit'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { listAttempts } from '../src/find-run.ts'
import { findRun, listTerms, recordFacts, refusedFact, runView } from '../src/index.ts'
import { after, attemptFact, lines, NOON, runFact, runId, termFact } from './facts.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase(inject('postgresUrl'))
})
afterAll(() => database[Symbol.asyncDispose]())

const NOTHING = { runs: 0, attempts: 0, terms: 0, letters: 0, audits: 0 }

async function view(id: string) {
  const found = await findRun(database.db, id)
  return found && runView(found.run, found.attempts)
}

test('a plain run is one row, and its only attempt is told by it', async () => {
  const id = runId()
  const fact = runFact({
    id,
    worker: 'w1',
    started_at: after(0),
    finished_at: after(0.2),
    attempt_state: 'succeeded',
    attempt_finished_at: after(0.2),
    result: { sent: true },
    labels: { team: 'billing' },
  })
  expect(await recordFacts(database.db, lines(fact))).toEqual({
    runs: 1,
    attempts: 0,
    terms: 0,
    letters: 0,
    audits: 0,
  })
  expect(await view(id)).toEqual({
    id,
    job: 'email.send',
    queue: 'emails',
    state: 'succeeded',
    payload: { to: 'someone@example.com' },
    result: { sent: true },
    labels: { team: 'billing' },
    priority: 0,
    enqueuedAt: NOON.toISOString(),
    startedAt: after(0),
    finishedAt: after(0.2),
    attempts: [
      { attempt: 1, state: 'succeeded', worker: 'w1', startedAt: after(0), finishedAt: after(0.2) },
    ],
  })
})

test('recording a fact again changes nothing and counts nothing', async () => {
  const facts = lines(
    runFact({ state: 'dead', reason: 'failed', attempt: 3, attempt_state: 'failed' }),
    termFact({ term: 1 }),
  )
  expect(await recordFacts(database.db, facts)).toEqual({
    runs: 1,
    attempts: 1,
    terms: 1,
    letters: 0,
    audits: 0,
  })
  expect(await recordFacts(database.db, [...facts, ...facts])).toEqual(NOTHING)
})

test('nothing to record is no error', async () => {
  expect(await recordFacts(database.db, [])).toEqual(NOTHING)
})

/** Every fact of the life of one run, in the order in which they happened. */
const life = fc
  .record({
    delayed: fc.boolean(),
    attempts: fc.array(
      fc.record({
        announced: fc.boolean(),
        end: fc.constantFrom('failed', 'drained', 'lost' as const),
      }),
      { maxLength: 3 },
    ),
    announced: fc.boolean(),
    seconds: fc.constantFrom(0.2, 5),
    last: fc.constantFrom('succeeded' as const, 'dead' as const),
  })
  .map((plan) => {
    const id = runId()
    const facts: object[] = plan.delayed
      ? [runFact({ id, state: 'queued', attempt: 0, run_at: after(10) })]
      : []
    const running = (attempt: number): RunFact =>
      runFact({
        id,
        state: 'running',
        attempt,
        worker: `w${attempt}`,
        started_at: after(attempt * 10),
        attempt_state: 'running',
      })
    plan.attempts.forEach(({ announced, end }, index) => {
      const attempt = index + 1
      const base = running(attempt)
      if (announced) facts.push(base)
      const ended = { attempt_finished_at: after(attempt * 10 + 5) }
      if (end === 'lost')
        facts.push(attemptFact({ id, attempt, attempt_finished_at: ended.attempt_finished_at }))
      else
        facts.push({
          ...base,
          ...ended,
          ...runFact({ id, state: end === 'failed' ? 'retrying' : 'queued', attempt }),
          attempt_state: end,
          error: end === 'failed' ? { name: 'Error', message: `attempt ${attempt}` } : null,
        })
    })
    const attempt = plan.attempts.length + 1
    const startedAt = after(attempt * 10)
    const finishedAt = after(attempt * 10 + plan.seconds)
    if (plan.announced && plan.seconds > 1) facts.push(running(attempt))
    facts.push({
      ...running(attempt),
      ...runFact({ id, state: plan.last, attempt, started_at: startedAt, finished_at: finishedAt }),
      attempt_state: plan.last === 'dead' ? 'failed' : 'succeeded',
      attempt_finished_at: finishedAt,
    })
    return { id, facts }
  })

test('facts in any order, any number of times and in any batches end in the same rows', async () => {
  const delivery = fc.array(life, { minLength: 15, maxLength: 15 }).chain((lives) => {
    const all = lives.flatMap(({ facts }) => facts)
    return fc.record({
      lives: fc.constant(lives),
      delivered: fc
        .array(fc.constantFrom(...all), { maxLength: 30 })
        .chain((again) =>
          fc.shuffledSubarray([...all, ...again], { minLength: all.length + again.length }),
        ),
      batch: fc.integer({ min: 1, max: 40 }),
    })
  })
  await fc.assert(
    fc.asyncProperty(delivery, async ({ lives, delivered, batch }) => {
      const ids = lives.map(({ id }) => id)
      for (let step = 0; lives.some(({ facts }) => step < facts.length); step++)
        await recordFacts(database.db, lines(...lives.flatMap(({ facts }) => facts[step] ?? [])))
      const expected = await rows(ids)
      await database.db.deleteFrom('runs').where('id', 'in', ids).execute()
      await database.db.deleteFrom('attempts').where('run_id', 'in', ids).execute()
      for (let at = 0; at < delivered.length; at += batch)
        await recordFacts(database.db, lines(...delivered.slice(at, at + batch)))
      expect(await rows(ids)).toEqual(expected)
      expect(expected.runs.filter((run) => run.finished_at === null)).toEqual([])
      const open = expected.attempts.filter(({ state }) => state === 'running')
      expect(open.filter(({ attempt, run_id }) => attempt === lastAttempt(run_id))).toEqual([])

      function lastAttempt(id: string): number | undefined {
        return expected.runs.find((run) => run.id === id)?.attempt
      }
    }),
    { numRuns: 8 },
  )
})

async function rows(ids: string[]) {
  const runs = await database.db
    .selectFrom('runs')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('id')
    .execute()
  const attempts = await listAttempts(database.db, ids)
  return {
    runs: runs.map((run) => Object.assign(run, { recorded_at: NOON })),
    attempts: attempts.map((attempt) => Object.assign(attempt, { recorded_at: NOON })),
  }
}

test('an attempt that runs under a run that went on without it is lost', async () => {
  const id = runId()
  const running = { state: 'running', attempt_state: 'running', started_at: after(1) } as const
  await recordFacts(database.db, lines(runFact({ id, ...running, worker: 'w1' })))
  expect((await view(id))?.attempts).toMatchObject([{ attempt: 1, state: 'running' }])
  await recordFacts(database.db, lines(runFact({ id, ...running, attempt: 2, worker: 'w2' })))
  expect((await view(id))?.attempts).toMatchObject([
    { attempt: 1, state: 'lost', worker: 'w1' },
    { attempt: 2, state: 'running', worker: 'w2' },
  ])
})

test('a term that ended stays so, and its release is worth more than a successor finding it expired', async () => {
  const ended = { until_at: after(60) }
  await recordFacts(database.db, lines(termFact({ term: 7, ...ended, reason: 'expired' })))
  await recordFacts(database.db, lines(termFact({ term: 7 })))
  await recordFacts(
    database.db,
    lines(termFact({ term: 7, until_at: after(50), reason: 'released' }), termFact({ term: 7 })),
  )
  const { items } = await listTerms(database.db, { limit: 200 })
  expect(items.find(({ term }) => term === 7)).toEqual({
    term: 7,
    instance: 'scheduler-1',
    from_at: NOON,
    until_at: new Date(after(50)),
    reason: 'released',
  })
})

test.each([
  ['a NUL in its output', JSON.stringify(runFact({ result: { output: 'a\u0000b' } }))],
  ['a state that is not known', JSON.stringify({ ...runFact(), state: 'asleep' })],
  ['an end without its instant', JSON.stringify(runFact({ finished_at: null }))],
  ['no run', JSON.stringify({ kind: 'run' })],
  ['a kind that is not known', JSON.stringify({ kind: 'wish', id: runId() })],
  ['no object', '[1]'],
  ['no JSON', '{"kind":'],
  ['an id that is no uuid', JSON.stringify({ ...runFact(), id: 'a' })],
  ['a number that is too large', JSON.stringify({ ...runFact(), attempt: 1e12 })],
])('a fact with %s is refused, and nothing beside it recorded', async (_what, line) => {
  const good = runFact()
  const error: unknown = await recordFacts(database.db, [...lines(good), line]).catch(
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Error)
  expect(refusedFact(error)).toBe(true)
  expect(await view(good.id)).toBeUndefined()
})

test('facts that make a longer text than a string can be are refused, for less of them to be given', async () => {
  const [line = ''] = lines(runFact({ result: 'x'.repeat(512 * 1024) }))
  const error: unknown = await recordFacts(
    database.db,
    Array.from({ length: 1_100 }, () => line),
  ).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(RangeError)
  expect(refusedFact(error)).toBe(true)
})

test.each([
  [21, 'stepped-down'],
  [22, 'untrusted'],
  [23, 'stalled'],
] as const)('term %i, which its leader ended as %s, has not expired', async (term, reason) => {
  const ended = { term, until_at: after(50) }
  await recordFacts(database.db, lines(termFact({ ...ended, reason: 'expired' })))
  await recordFacts(database.db, lines(termFact({ ...ended, reason })))
  await recordFacts(database.db, lines(termFact({ ...ended, reason: 'expired' })))
  const { items } = await listTerms(database.db, { limit: 200 })
  expect(items.find((each) => each.term === term)?.reason).toBe(reason)
})
