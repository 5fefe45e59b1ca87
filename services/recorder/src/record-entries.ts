import { type Db, type RecordedFacts, recordFacts, refusedFact } from '@jadwal/db'
import type { OutboxEntry, OutboxReader } from '@jadwal/queue'
import { type Logger, sleep } from '@jadwal/runtime'
import type { RecorderMetrics } from './recorder-metrics.ts'
import type { RunTeller } from './tell-runs.ts'
import { type Fact, sliceFacts } from './slice-facts.ts'

export interface RecordDeps {
  db: Db
  reader: OutboxReader
  teller: RunTeller
  metrics: RecorderMetrics
  log: Logger
  /** Hears of each attempt that an outage spoiled. */
  waiting: (error: unknown) => void
}

const FIRST_BACKOFF_MS = 100
const LONGEST_BACKOFF_MS = 5_000

/**
 * Brings the facts of entries into the history, and only then acknowledges the entries. However long
 * Postgres or Redis is away, it waits; a fact that Postgres refuses is found by halving and put aside.
 * Rejects only when `giveUp` aborts: the entries then stay pending, for another recorder to claim.
 */
export async function recordEntries(
  deps: RecordDeps,
  entries: readonly OutboxEntry[],
  giveUp: AbortSignal,
): Promise<void> {
  const facts = entries.flatMap((entry) => entry.lines.map((line) => ({ line, entry })))
  for (const slice of sliceFacts(facts)) await record(deps, slice, giveUp)
  await patiently(deps, giveUp, () => deps.reader.acknowledge(entries))
}

async function record(
  deps: RecordDeps,
  facts: readonly Fact[],
  giveUp: AbortSignal,
): Promise<void> {
  const refusal = await tryToRecord(deps, facts, giveUp)
  if (refusal === undefined) return
  if (facts.length > 1) {
    const half = Math.ceil(facts.length / 2)
    await record(deps, facts.slice(0, half), giveUp)
    await record(deps, facts.slice(half), giveUp)
    return
  }
  // Once more, alone: a partition that is attached meanwhile looks like a broken constraint, just once.
  const [fact] = facts
  const last = await tryToRecord(deps, facts, giveUp)
  if (fact && last !== undefined) await putAside(deps, { fact, refusal: last }, giveUp)
}

/** Resolves to what Postgres has against a fact, or to nothing when all are recorded. */
function tryToRecord(
  deps: RecordDeps,
  facts: readonly Fact[],
  giveUp: AbortSignal,
): Promise<Error | undefined> {
  return patiently(deps, giveUp, async () => {
    try {
      const lines = facts.map(({ line }) => line)
      deps.metrics.recorded(await recordAndTell(deps, lines))
      return undefined
    } catch (error) {
      if (error instanceof Error && refusedFact(error)) return error
      throw error
    }
  })
}

/** What is told of is told within the transaction, or right after it. */
async function recordAndTell(
  { db, teller }: RecordDeps,
  lines: readonly string[],
): Promise<RecordedFacts> {
  if (!teller.isNeededFor(lines)) return recordFacts(db, lines)
  const recorded = await db.transaction().execute(async (tx) => {
    const changes = await recordFacts(tx, lines, { tell: true })
    await teller.tellDead(changes.told ?? [])
    return changes
  })
  await teller.tellOthers(recorded.told ?? [])
  return recorded
}

async function putAside(
  deps: RecordDeps,
  { fact, refusal }: { fact: Fact; refusal: Error },
  giveUp: AbortSignal,
): Promise<void> {
  const { entry, line } = fact
  await patiently(deps, giveUp, () => deps.reader.reject(entry, line, refusal.message))
  deps.metrics.rejected()
  const { queue, id } = entry
  // The error itself would carry the fact, payload and all, into the log.
  deps.log.error({ queue, entry: id, refusal: refusal.message }, 'fact refused and put aside')
}

/** Does something again until it succeeds, with growing pauses. */
async function patiently<T>(
  deps: Pick<RecordDeps, 'waiting'>,
  giveUp: AbortSignal,
  act: () => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await act()
    } catch (error) {
      if (giveUp.aborted) throw error
      deps.waiting(error)
      const fullMs = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(failures, 10), LONGEST_BACKOFF_MS)
      await sleep(fullMs * (0.5 + Math.random() / 2), giveUp)
      if (giveUp.aborted) throw error
    }
  }
}
