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
