import { Fact, isEnded, type RunFact } from '@jadwal/domain'
import type { Redis } from 'ioredis'
import { outboxKey } from './keys.ts'

/** What is looked through: so many entries of each outbox, and so many characters of all together. */
interface Bound {
  entries: number
  text: number
}

const MIB = 1024 * 1024
const OF_ONE: Bound = { entries: 2_000, text: 32 * MIB }
const OF_MANY: Bound = { entries: 100, text: 16 * MIB }
/** Entries of the first page; an entry has 4 MiB at most. */
const FIRST_PAGE = 10
const LARGEST_PAGE = 200
const SMALL_PAGE_TEXT = MIB / 4

/**
 * The highest fact of a run that waits for the recorder in the outboxes of the given queues, newest
 * entries first. With long backlogs it looks only so far, and farther when there is just one queue to
 * look at: a fact that lies deeper is not found until it is recorded.
 */
export async function searchOutboxes(
  redis: Redis,
  prefix: string,
  { queues, id }: { queues: readonly string[]; id: string },
): Promise<RunFact | undefined> {
  const { entries, text } = queues.length === 1 ? OF_ONE : OF_MANY
  let textLeft = text
  let latest: RunFact | undefined
  for (const queue of queues) {
    let entriesLeft = entries
    for await (const page of newestFirst(redis, outboxKey(prefix, queue))) {
      const lines = page.flatMap((facts) => facts.split('\n'))
      for (const fact of lines.flatMap((line) => factsOf(id, line)))
        if (latest === undefined || fact.revision > latest.revision) latest = fact
      if (latest && isEnded(latest.state)) return latest
      entriesLeft -= page.length
      textLeft -= lengthOf(page)
      if (entriesLeft <= 0 || textLeft <= 0) break
    }
    if (latest !== undefined || textLeft <= 0) break
  }
  return latest
}

/** The entries of an outbox, page by page; pages grow while entries are small. */
async function* newestFirst(redis: Redis, key: string): AsyncGenerator<string[]> {
  let before = '+'
  let size = FIRST_PAGE
  for (;;) {
    const entries = await redis.xrevrange(key, before, '-', 'COUNT', size)
    const page = entries.map(([, fields]) => fields[1] ?? '')
    if (page.length > 0) yield page
    const last = entries.at(-1)
    if (last === undefined || entries.length < size) return
    before = `(${last[0]}`
    size = lengthOf(page) < SMALL_PAGE_TEXT ? Math.min(2 * size, LARGEST_PAGE) : FIRST_PAGE
  }
}

function factsOf(id: string, line: string): RunFact[] {
  if (!line.includes(id)) return []
  const { data } = Fact.safeParse(parseJson(line))
  return data?.kind === 'run' && data.id === id ? [data] : []
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
