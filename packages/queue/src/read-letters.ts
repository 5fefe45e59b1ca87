import { isRedacted, redriveRunId, type RunId } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { DeadLetter } from './dead-letter.ts'
import { deadKey, settledKey } from './keys.ts'
import type { DeadRunCopy } from './redriven-run.ts'
import { safeJson } from './run-fact.ts'

/** Commands in one pipeline. */
const AT_ONCE = 2_000

/** What was decided about a dead letter. */
export type Decision =
  | { kind: 'redriven'; redrivenAs: RunId }
  | { kind: 'discarded'; at: string; by: string; reason: string }

const Discarded = z.object({ at: z.string(), by: z.string(), reason: z.string() })

/** What is kept in Redis of a discard: also what a script makes its fact of. */
export function discardedText(discarded: { at: string; by: string; reason: string }): string {
  return `discarded ${safeJson(JSON.stringify(discarded))}`
}

/** Reads what is kept of a decision; undefined when there is none, or one that was only begun. */
export function readDecision(id: string, text: unknown): Decision | undefined {
  if (text === 'redriven') return { kind: 'redriven', redrivenAs: redriveRunId(id) }
  if (typeof text !== 'string' || !text.startsWith('discarded ')) return undefined
  return { kind: 'discarded', ...Discarded.parse(JSON.parse(text.slice('discarded '.length))) }
}

/** What was decided in the last seven days about a dead letter of a queue. */
export async function findDecision(
  redis: Redis,
  prefix: string,
  { queue, id }: { queue: string; id: string },
): Promise<Decision | undefined> {
  return readDecision(id, await redis.get(settledKey(prefix, queue, id)))
}

/** In which of the queues each run has its dead letter, or a decision about it. Those that are in none are left out. */
export async function locateLetters(
  redis: Redis,
  prefix: string,
  { ids, queues }: { ids: readonly string[]; queues: readonly string[] },
): Promise<Map<string, string>> {
  const asked = ids.flatMap((id) => queues.map((queue) => ({ id, queue })))
  const located = new Map<string, string>()
  for (let from = 0; from < asked.length; from += AT_ONCE) {
    const page = asked.slice(from, from + AT_ONCE)
    const pipeline = redis.pipeline()
    for (const { id, queue } of page)
      pipeline.exists(deadKey(prefix, queue, id), settledKey(prefix, queue, id))
    const replies = values(await pipeline.exec())
    for (const [at, { id, queue }] of page.entries())
      if (Number(replies[at]) > 0 && !located.has(id)) located.set(id, queue)
  }
  return located
}

/** The letters of runs that are there and can be read, in the order asked. */
export async function readLetters(
  redis: Redis,
  prefix: string,
  letters: readonly { id: string; queue: string }[],
): Promise<(DeadRunCopy | undefined)[]> {
  if (letters.length === 0) return []
  const pipeline = redis.pipeline()
  for (const { id, queue } of letters)
    pipeline.hmget(deadKey(prefix, queue, id), 'name', 'data', 'priority')
  return values(await pipeline.exec()).map((reply) => {
    const [name, data, priority] = reply as (string | null)[]
    const letter = DeadLetter.safeParse(parseJson(data))
    if (name == null || !letter.success) return undefined
    const { death, ...message } = letter.data
    // The letter of a run that Redis had lost was made of its row.
    const lacksValues = death.reason === 'lost' && isRedacted(message.payload)
    return { job: name, message, priority: Number(priority ?? 0), lacksValues }
  })
}

function values(replies: [Error | null, unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
}

function parseJson(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
