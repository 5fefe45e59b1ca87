import { redriveRunId, type RunFact } from '@jadwal/domain'
import { createTestDatabase } from '@jadwal/testkit'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import {
  type DeadLetterGroup,
  listDeadLetterGroups,
  openDatabase,
  RECORDER_NAME,
  recordFacts,
} from '../src/index.ts'
import { after, lines, NOON, runFact } from './facts.ts'

async function setup() {
  const database = await createTestDatabase(inject('postgresUrl'))
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { db, url } = database
  return { db, url, record: (...facts: readonly object[]) => recordFacts(db, lines(...facts)) }
}
type Setup = Awaited<ReturnType<typeof setup>>

/** A run that died so many seconds after noon. */
function dead(seconds: number, fact: Partial<RunFact> = {}): RunFact {
  return runFact({
    state: 'dead',
    reason: 'failed',
    finished_at: after(seconds),
    error: { name: 'Error', message: `no answer from ${seconds}` },
    fingerprint: 'aaaaaaaaaaaaaaaa',
    ...fact,
  })
}

function redriven(run: { id: string } | undefined) {
  const id = run?.id ?? ''
  const letter = { at: after(60), by: 'ana', redrivenAs: redriveRunId(id) }
  return { kind: 'letter', id, letter }
}

test('groups have one entry a cause, largest first, with its times and an example', async () => {
  const { db, record } = await setup()
  const other = { fingerprint: 'bbbbbbbbbbbbbbbb', error: { name: 'TypeError', message: 'no' } }
  const runs = [dead(1, other), dead(2), dead(3), dead(4), dead(9, { fingerprint: null })]
  await record(...runs, redriven(runs[3]))
  const { items, nextCursor } = await listDeadLetterGroups(db, { from: NOON }, {})
  const [, latest] = [runs[1]?.id ?? '', runs[2]?.id ?? ''].toSorted()
  expect(items[0]).toEqual({
    fingerprint: 'aaaaaaaaaaaaaaaa',
    job: 'email.send',
    queue: 'emails',
    error: 'Error',
    message: expect.stringMatching(/^no answer from [23]$/),
    count: 2,
    first_at: new Date(after(2)),
    last_at: new Date(after(3)),
    example: latest,
  })
  expect(items.slice(1).map(({ fingerprint, count }) => [fingerprint, count])).toEqual(
    expect.arrayContaining([
      ['bbbbbbbbbbbbbbbb', 1],
      [null, 1],
    ]),
  )
  expect(nextCursor).toBeNull()
  const first = await listDeadLetterGroups(db, { from: NOON }, { limit: 2 })
  const cursor = first.nextCursor ?? ''
  const rest = await listDeadLetterGroups(db, { from: NOON }, { limit: 2, cursor })
  expect([...first.items, ...rest.items]).toEqual(items)
  expect((await listDeadLetterGroups(db, { from: NOON, job: 'none' }, {})).items).toEqual([])
})

/** Letters by cause, as the history is to have them. */
class Letters {
  readonly open = new Map<string, RunFact[]>()
  readonly #t: Setup

  constructor(t: Setup) {
    this.#t = t
  }

  async die(queue: string, cause: number): Promise<void> {
    const fingerprint = cause === 0 ? null : `${cause}`.padStart(16, '0')
    const run = dead(1 + cause, { queue, fingerprint })
    await this.#t.record(run)
    const key = `${fingerprint}`
    this.open.set(key, [...(this.open.get(key) ?? []), run])
  }

  async settle(which: number): Promise<void> {
    const all = [...this.open.values()].flat()
    const run = all[which % Math.max(all.length, 1)]
    if (!run) return
    await this.#t.record(redriven(run))
    const key = `${run.fingerprint}`
    this.open.set(
      key,
      (this.open.get(key) ?? []).filter((each) => each !== run),
    )
  }

  /** Largest first. */
  groups(): { fingerprint: string; count: number; example: string }[] {
    return [...this.open]
      .filter(([, runs]) => runs.length > 0)
      .map(([fingerprint, runs]) => ({
        fingerprint,
        count: runs.length,
        example:
          runs
            .map(({ id }) => id)
            .toSorted()
            .at(-1) ?? '',
      }))
      .toSorted((one, other) => other.count - one.count || (one.example < other.example ? 1 : -1))
  }
}

test('whatever dies or is settled between pages, each group is on one page, as it was at the first', async () => {
  const t = await setup()
  const cause = fc.nat(6)
  const act = fc.oneof(
    fc.record({ act: fc.constant('die' as const), of: cause }),
    fc.record({ act: fc.constant('settle' as const), of: fc.nat(40) }),
  )
  const walk = fc.record({
    before: fc.array(cause, { minLength: 1, maxLength: 15 }),
    settledBefore: fc.array(fc.nat(40), { maxLength: 3 }),
    limit: fc.integer({ min: 1, max: 3 }),
    between: fc.array(fc.array(act, { maxLength: 8 }), { minLength: 2, maxLength: 8 }),
  })
  let walks = 0
  await fc.assert(
    fc.asyncProperty(walk, async ({ before, settledBefore, limit, between }) => {
      walks += 1
      const queue = `walk-${walks}`
      const letters = new Letters(t)
      for (const of of before) await letters.die(queue, of)
      for (const which of settledBefore) await letters.settle(which)
      const expected = letters.groups()
      const seen: DeadLetterGroup[] = []
      for (let cursor: string | null | undefined, page = 0; cursor !== null; page += 1) {
        const request = { limit, ...(cursor === undefined ? {} : { cursor }) }
        const answer = await listDeadLetterGroups(t.db, { queue, from: NOON }, request)
        seen.push(...answer.items)
        cursor = answer.nextCursor
        for (const { act: what, of } of between[page] ?? []) {
          if (what === 'die') await letters.die(queue, of)
          else await letters.settle(of)
        }
      }
      expect(
        seen.map(({ fingerprint, count, example }) => ({
          fingerprint: `${fingerprint}`,
          count,
          example,
        })),
      ).toEqual(expected)
    }),
    { numRuns: 25 },
  )
})

test('what a recorder is writing while the first page is read stays away from all pages', async () => {
  const t = await setup()
  const recorder = openDatabase({ url: t.url, schema: 'jadwal', max: 1, name: RECORDER_NAME })
  onTestFinished(() => recorder.destroy())
  const small = { fingerprint: 'bbbbbbbbbbbbbbbb' }
  await t.record(dead(1), dead(2), dead(3, small))
  const list = (cursor?: string) =>
    listDeadLetterGroups(t.db, { from: NOON }, { limit: 1, ...(cursor && { cursor }) })
  const first = await recorder.transaction().execute(async (tx) => {
    await sql`SELECT now()`.execute(tx)
    await t.record(dead(4, { fingerprint: 'cccccccccccccccc' }))
    const page = await list()
    await recordFacts(tx, lines(dead(5, small), dead(6, small)))
    return page
  })
  expect(first.items).toMatchObject([{ fingerprint: 'aaaaaaaaaaaaaaaa', count: 2 }])
  const second = await list(first.nextCursor ?? '')
  expect(second).toMatchObject({ items: [{ ...small, count: 1 }], nextCursor: null })
  expect((await list()).items).toMatchObject([{ ...small, count: 3 }])
})

test('without a period it is the week before the first page, on the pages after it too', async () => {
  const t = await setup()
  const { items, nextCursor, from } = await listDeadLetterGroups(t.db, {}, {})
  expect([items, nextCursor]).toEqual([[], null])
  const until = new Date(NOON.getTime() + 60_000)
  const week = await listDeadLetterGroups(t.db, { to: until }, {})
  expect(week.from).toEqual(new Date(until.getTime() - 7 * 86_400_000))
  expect(from.getTime()).not.toBe(week.from.getTime())
  const now = Date.now()
  const recent = (fingerprint: string) => ({
    fingerprint,
    finished_at: new Date(now - 1_000).toISOString(),
  })
  await t.record(dead(1, recent('aaaaaaaaaaaaaaaa')), dead(1, recent('bbbbbbbbbbbbbbbb')))
  const first = await listDeadLetterGroups(t.db, {}, { limit: 1 })
  const second = await listDeadLetterGroups(t.db, {}, { limit: 1, cursor: first.nextCursor ?? '' })
  expect(second.items).toHaveLength(1)
  expect(second.from).toEqual(first.from)
})
