import type { AuditFact } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { outboxKey, SCHEDULER } from './keys.ts'
import { safeJson } from './run-fact.ts'
import { answering } from './redis-trouble.ts'

/** Writes entries of the audit log into the outbox of the leaders' terms. Throws RedisUnavailableError and TryLaterError. */
export async function appendAudit(
  redis: Redis,
  prefix: string,
  facts: readonly AuditFact[],
): Promise<void> {
  const lines = facts.map((fact) => safeJson(JSON.stringify(fact))).join('\n')
  await answering(() => redis.xadd(outboxKey(prefix, SCHEDULER), '*', 'facts', lines))
}
