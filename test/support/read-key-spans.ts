import type { Redis } from 'ioredis'
import type { KeySpan } from '../ledger/check-key-limits.ts'

/**
 * What the handlers of `fault.keyed` have noted. What a worker did ends when it was killed or frozen,
 * as `endedAtMs` says by process id: what a frozen one does when it goes on, it does without its slots.
 */
export async function readKeySpans(
  { redis, prefix }: { redis: Redis; prefix: string },
  endedAtMs: ReadonlyMap<number, number> = new Map(),
): Promise<KeySpan[]> {
  const spans = new Map<string, KeySpan>()
  for (const line of await redis.lrange(`${prefix}:key-spans`, 0, -1)) {
    const [what, key = '', runId = '', attempt = '', pid, text] = line.split(' ')
    const [name, atMs] = [`${runId} ${attempt} ${pid}`, Number(text)]
    const lastMs = endedAtMs.get(Number(pid)) ?? Infinity
    const known = spans.get(name)
    if (what === 'ended' && known) known.untilMs = Math.min(atMs, lastMs)
    if (what !== 'began' || atMs > lastMs) continue
    const untilMs = Math.min(Date.now(), lastMs)
    spans.set(name, { key, runId, attempt: Number(attempt), fromMs: atMs, untilMs })
  }
  return [...spans.values()]
}
