import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { type Db, listRuns, type RunFilters } from '../src/index.ts'
import { CASES, type SearchCase, setup } from './search-setup.ts'

const LIMIT = 20

test('every filter, and every two and many three together, find what plain SQL finds, on each page', async () => {
  const { db } = await setup()
  const idsOf = new Map<SearchCase, ReadonlySet<string>>()
  for (const each of CASES) idsOf.set(each, new Set(await plainIds(db, each)))
  const wrong: string[] = []
  for (const cases of combinations()) {
    const [first = new Set<string>(), ...others] = cases.map((each) => idsOf.get(each))
    const expected = [...first]
      .filter((id) => others.every((ids) => ids?.has(id)))
      .slice(0, 2 * LIMIT)
    const found = await twoPages(db, Object.assign({}, ...cases.map(({ filters }) => filters)))
    if (found.join() !== expected.join())
      wrong.push(`${cases.map(({ name }) => name).join(', ')}: ${found.join()}`)
  }
  expect(wrong).toEqual([])
})

async function twoPages(db: Db, filters: RunFilters): Promise<string[]> {
  const { items, nextCursor } = await listRuns(db, filters, { limit: LIMIT })
  if (nextCursor !== null)
    items.push(...(await listRuns(db, filters, { limit: LIMIT, cursor: nextCursor })).items)
  return items.map(({ run }) => run.id)
}

/** Newest first. */
async function plainIds(db: Db, { plain }: SearchCase): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM ${sql.table('runs_all')} WHERE ${plain} ORDER BY id DESC`.execute(db)
  return rows.map(({ id }) => id)
}

/** Values of one filter do not go together. */
function combinations(): SearchCase[][] {
  const all: SearchCase[][] = CASES.map((each) => [each])
  for (const [a, first] of CASES.entries()) {
    for (const [b, second] of CASES.entries()) {
      if (b <= a || shareFilter(first, second)) continue
      all.push([first, second])
      const third = CASES[(a * 7 + b * 5) % CASES.length]
      if ((a + b) % 3 === 0 && third && !shareFilter(first, third) && !shareFilter(second, third))
        all.push([first, second, third])
    }
  }
  return all
}

function shareFilter(a: SearchCase, b: SearchCase): boolean {
  return Object.keys(a.filters).some((key) => key in b.filters)
}
