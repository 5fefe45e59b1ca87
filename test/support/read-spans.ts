import type { Redis } from 'ioredis'
import type { Execution } from '../ledger/check-overlaps.ts'

export type Span = Omit<Execution, 'scheduleId'>

/**
 * What the handlers of `fault.span` have noted. One whose worker was killed has no end of its own: it
 * ended with its worker, and one that goes on lasts until now.
 */
export async function readSpans(
  { redis, prefix }: { redis: Redis; prefix: string },
  workersEndedAtMs: ReadonlyMap<number, number>,
): Promise<Span[]> {
  const spans = new Map<string, Span>()
  for (const line of await redis.lrange(`${prefix}:spans`, 0, -1)) {
    const [what, runId = '', attempt, pid, text] = line.split(' ')
    const [key, atMs] = [`${runId} ${attempt} ${pid}`, Number(text)]
    const known = spans.get(key)
    if (what === 'ended' && known) known.untilMs = atMs
    if (what !== 'began') continue
    const untilMs = workersEndedAtMs.get(Number(pid)) ?? Date.now()
    spans.set(key, { runId, fromMs: atMs, untilMs })
  }
  return [...spans.values()]
}
