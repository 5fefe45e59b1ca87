import type { OutboxEntry } from '@jadwal/queue'
import { pollLoop } from '@jadwal/runtime'
import { type RecordDeps, recordEntries } from './record-entries.ts'

/** Reading and parsing one batch overlaps with Postgres' work on the other. */
const BATCHES_IN_HAND = 2
const BLOCK_MS = 500
/**
 * Fewer facts than `FULL` leave time to gather more, since a statement costs as much as a hundred facts.
 * Where many come, a longer while is worth it; where few come, they are not to wait.
 */
const FULL = 1_000
const FEW = 20
const GATHER_FEW_MS = 20
const GATHER_MANY_MS = 100

export interface RecordingSignals {
  /** Read nothing more but what is there already. */
  stop: AbortSignal
  /** Do not even wait for that. */
  giveUp: AbortSignal
}

/**
 * Moves facts from the outboxes to Postgres until `stop`; then records what is still in the outboxes,
 * so that a system that stops as a whole leaves its history complete. Resolves when nothing is in hand.
 */
export async function recordOutboxes(
  deps: RecordDeps,
  { stop, giveUp }: RecordingSignals,
): Promise<void> {
  const inHand = new Set<Promise<void>>()
  const take = (entries: OutboxEntry[]): void => {
    const recording = recordEntries(deps, entries, giveUp)
      // Given up: what is in hand stays pending in Redis.
      .catch(deps.waiting)
      .finally(() => inHand.delete(recording))
    inHand.add(recording)
  }
  const round = async (): Promise<number> => {
    while (inHand.size >= BATCHES_IN_HAND) await Promise.race(inHand)
    if (deps.reader.interrupted) {
      await Promise.all(inHand)
      take(await deps.reader.readPending())
      return 0
    }
    const entries = await deps.reader.read(BLOCK_MS)
    if (entries.length > 0) take(entries)
    return gatherMs(countFacts(entries))
  }
  await pollLoop(round, { signal: stop, log: deps.log, name: 'record' })
  await Promise.all(inHand)
  await drain(deps, giveUp)
}

async function drain(deps: RecordDeps, giveUp: AbortSignal): Promise<void> {
  while (!giveUp.aborted) {
    const entries = await deps.reader.read().catch((error: unknown) => {
      deps.waiting(error)
      return []
    })
    if (entries.length === 0) return
    await recordEntries(deps, entries, giveUp).catch(deps.waiting)
  }
}

function gatherMs(facts: number): number {
  if (facts >= FULL) return 0
  return facts < FEW ? GATHER_FEW_MS : GATHER_MANY_MS
}

function countFacts(entries: readonly OutboxEntry[]): number {
  return entries.reduce((sum, { lines }) => sum + lines.length, 0)
}
