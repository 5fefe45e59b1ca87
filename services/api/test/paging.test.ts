import { randomBytes, randomUUID } from 'node:crypto'
import { recordFacts } from '@jadwal/db'
import type { TermFact } from '@jadwal/domain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMAIL } from './setup-schedules.ts'
import { makeToken } from './setup-access.ts'
import type { Answer } from './setup-api.ts'
import { factOf, setupHistory } from './setup-history.ts'

let t: Awaited<ReturnType<typeof setupHistory>>
let term = 0

beforeAll(async () => {
  t = await setupHistory()
  await send('PUT', '/schedules/paged', EMAIL)
})
afterAll(async () => t[Symbol.asyncDispose]())

function send(method: string, path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return t.api.ask(`/api/v1${path}`, { method, headers, body: JSON.stringify(body) })
}

/** Rejects when it was refused. */
async function change(method: string, path: string, body: object): Promise<void> {
  const { status, text } = await send(method, path, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
}

/** Some name, so that what is listed by name comes in anywhere. */
function someName(): string {
  return `n${randomBytes(6).toString('hex')}`
}

async function addTerm(): Promise<void> {
  term += 1
  const fact: TermFact = {
    kind: 'term',
    term,
    instance: 'scheduler-1',
    from_at: new Date(1_790_000_000_000 + term * 1_000).toISOString(),
  }
  await recordFacts(t.db, [JSON.stringify(fact)])
}

interface Item {
  id?: string
  name?: string
  term?: number
  version?: number
}
interface List {
  path: string
  key: (item: Item) => unknown
  /** Adds one, as others would while somebody pages. */
  add: () => Promise<unknown>
}

const byId = ({ id }: Item) => id
const byName = ({ name }: Item) => name
const LISTS: List[] = [
  { path: '/runs', key: byId, add: () => t.record(factOf('succeeded')) },
  { path: '/runs?state=dead', key: byId, add: () => t.record(factOf('dead')) },
  { path: '/dead-letters', key: byId, add: () => t.record(factOf('dead', { reason: 'failed' })) },
  {
    path: '/schedules',
    key: byName,
    add: () => change('PUT', `/schedules/${someName()}`, EMAIL),
  },
  {
    path: '/schedules/paged/versions',
    key: ({ version }) => version,
    add: () => change('PUT', '/schedules/paged', { ...EMAIL, description: randomUUID() }),
  },
  {
    path: '/calendars',
    key: byName,
    add: () => change('PUT', `/calendars/${someName()}`, { dates: ['12-25'] }),
  },
  {
    path: '/backfills',
    key: byId,
    add: () =>
      change('POST', '/schedules/paged/backfill', {
        from: '2026-09-01T00:00:00Z',
        to: '2026-09-02T12:00:00Z',
      }),
  },
  {
    path: '/redrives',
    key: byId,
    add: () => change('POST', '/dead-letters/redrive', { all: true }),
  },
  { path: '/leader/terms', key: (item) => item.term, add: addTerm },
  {
    path: '/tokens',
    key: byId,
    add: () => makeToken(t.api, { name: someName(), role: 'viewer' }),
  },
]

/** What a list has on its next page, and the cursor behind it. */
async function pageOf({ path, key }: List, limit: number, cursor: string | null = null) {
  const more = cursor === null ? '' : `&cursor=${cursor}`
  const { status, body } = await t.api.ask(
    `/api/v1${path}${path.includes('?') ? '&' : '?'}limit=${limit}${more}`,
  )
  expect([path, status]).toEqual([path, 200])
  return { keys: (body.items as Item[]).map(key), next: body.nextCursor as string | null }
}

test.each(LISTS)(
  '$path shows all that was there, and nothing twice, while more comes in',
  async (list) => {
    for (let n = 0; n < 7; n += 1) await list.add()
    const before = (await pageOf(list, 200)).keys
    expect(before.length).toBeGreaterThanOrEqual(7)
    const seen: unknown[] = []
    let next: string | null = null
    // Of names half of what comes in lies ahead, so that two are added for each three that are read.
    do {
      const page = await pageOf(list, 3, next)
      seen.push(...page.keys)
      next = page.next
      if (seen.length < 60) for (let n = 0; n < 2; n += 1) await list.add()
    } while (next !== null)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(expect.arrayContaining(before))
  },
  60_000,
)
