import { openDatabase, recordFacts } from '@jadwal/db'
import { type AuditFact, Fact } from '@jadwal/domain'
import { keys } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { expect } from 'vitest'
import type { TestApi } from './setup-api.ts'

/** The entries that the api has told of, as the recorder would read them: each twice, unless it is over at once. */
export async function auditFacts({
  redis,
  prefix,
}: Pick<TestApi, 'redis' | 'prefix'>): Promise<AuditFact[]> {
  const entries = await redis.xrange(keys.outboxKey(prefix, keys.SCHEDULER), '-', '+')
  return entries
    .flatMap(([, fields]) => (fields[1] ?? '').split('\n'))
    .map((line) => Fact.parse(JSON.parse(line)))
    .filter((fact) => fact.kind === 'audit')
}

/** Waits until an action has ended, and gives what its last entry says. */
export async function auditOf(api: TestApi, action: string): Promise<AuditFact['audit']> {
  return await eventually(async () => {
    const facts = (await auditFacts(api)).filter(({ audit }) => audit.action === action)
    const last = facts.at(-1)
    expect(last?.audit.status).toBeTypeOf('number')
    return last?.audit as AuditFact['audit']
  })
}

/** Brings what was told of into Postgres, as a recorder does. */
export async function recordAudit(api: TestApi): Promise<void> {
  const db = openDatabase({ url: api.databaseUrl, schema: 'jadwal', max: 1 })
  const lines = (await auditFacts(api)).map((fact) => JSON.stringify(fact))
  await recordFacts(db, lines)
  await db.destroy()
}

/** What `GET /audit` says of one change. */
export interface ToldEntry {
  actor: string
  action: string
  subject: string | null
  status: number
  before: unknown
  after: unknown
}

/** Waits until so many acts on a subject, or of some names, have ended, records them, and asks the api for them. */
export async function entriesOf(
  api: TestApi,
  { subject, actions, count }: { subject?: string; actions?: string[]; count: number },
): Promise<ToldEntry[]> {
  const isMeant = (entry: { subject?: string | null | undefined; action: string }): boolean =>
    (subject === undefined || entry.subject === subject) &&
    (actions === undefined || actions.includes(entry.action))
  await eventually(async () => {
    const ended = (await auditFacts(api)).filter(({ audit }) => audit.status !== undefined)
    expect(ended.filter(({ audit }) => isMeant(audit))).toHaveLength(count)
  })
  await recordAudit(api)
  const { body } = await api.ask('/api/v1/audit?limit=200')
  return (body.items as ToldEntry[]).filter((entry) => isMeant(entry))
}

/** Of entries, those that tell of a change. */
export function changesIn(entries: readonly ToldEntry[]): ToldEntry[] {
  return entries.filter(({ before, after }) => keyOf(before) !== keyOf(after))
}

/**
 * Whether entries can be put into an order in which each begins where the one before ended, from a first
 * state to a last one. So it is when every state is left as often as it is come to, but for those two,
 * and each can be come to from the first.
 */
export function expectOneHistory(
  entries: readonly ToldEntry[],
  { from, to }: { from: unknown; to: unknown },
): void {
  const changes = changesIn(entries).map(({ before, after }) => ({
    before: keyOf(before),
    after: keyOf(after),
  }))
  const left = [...changes.map(({ before }) => before), keyOf(to)]
  const comeTo = [keyOf(from), ...changes.map(({ after }) => after)]
  expect(left.toSorted(byText)).toEqual(comeTo.toSorted(byText))
  const reached = new Set([keyOf(from)])
  for (let size = 0; size < reached.size;) {
    size = reached.size
    for (const { before, after } of changes) if (reached.has(before)) reached.add(after)
  }
  expect(changes.filter(({ before }) => !reached.has(before))).toEqual([])
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/** Equal for what is equal, however its members are sorted. */
function keyOf(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
