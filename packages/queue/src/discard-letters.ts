import { redriveRunId } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { companionPrefix, deadKey, outboxKey } from './keys.ts'
import { lettersAtOnce } from './letters-at-once.ts'
import type { Patience } from './patience.ts'
import { discardedText } from './read-letters.ts'
import { instant } from './run-fact.ts'
import { DECIDED_MS, DISCARD_SCRIPT } from './settle-scripts.ts'

const COMMAND = 'jadwalDiscardLetters'

type Scripted = Redis & { [COMMAND](...args: (string | number)[]): Promise<(string | 1)[]> }

/** A decision was made by this call, or had been before. */
export type DiscardResult =
  | { id: string; discarded: true; isNew: boolean }
  | { id: string; discarded: false; redrivenAs: string }
  /** Its redrive was cut short: the new run is not known to be made, and nothing else can become of it. */
  | { id: string; discarded: false; isBegun: true }

/** Discards letters, with their facts, in the order given. */
export async function discardLetters(
  { redis, prefix, patience }: { redis: Redis; prefix: string; patience: Patience },
  letters: readonly { id: string; queue: string }[],
  { by, reason, nowMs }: { by: string; reason: string; nowMs: number },
): Promise<DiscardResult[]> {
  redis.defineCommand(COMMAND, { numberOfKeys: 3, lua: DISCARD_SCRIPT })
  const kept = discardedText({ at: instant(nowMs), by, reason })
  const results = new Map<string, DiscardResult>()
  for (const [queue, ids] of byQueue(letters)) {
    const keys = [
      deadKey(prefix, queue, ''),
      outboxKey(prefix, queue),
      companionPrefix(prefix, queue),
    ]
    const most = await patience.for(lettersAtOnce(redis, prefix, queue))
    for (let from = 0; from < ids.length; from += most) {
      const page = ids.slice(from, from + most)
      const args = page.flatMap((id) => [id, kept])
      const said = await patience.for((redis as Scripted)[COMMAND](...keys, DECIDED_MS, ...args))
      for (const [at, id] of page.entries()) results.set(id, resultOf(id, said[at]))
    }
  }
  return letters.flatMap(({ id }) => results.get(id) ?? [])
}

function resultOf(id: string, said: string | 1 | undefined): DiscardResult {
  if (said === 1) return { id, discarded: true, isNew: true }
  if (said?.startsWith('discarded ')) return { id, discarded: true, isNew: false }
  if (said?.startsWith('claimed ')) return { id, discarded: false, isBegun: true }
  return { id, discarded: false, redrivenAs: redriveRunId(id) }
}

function byQueue(letters: readonly { id: string; queue: string }[]): Map<string, string[]> {
  const queues = new Map<string, string[]>()
  for (const { id, queue } of letters) queues.set(queue, [...(queues.get(queue) ?? []), id])
  return queues
}
