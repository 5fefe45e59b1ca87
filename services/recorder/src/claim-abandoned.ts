import type { OutboxEntry } from '@jadwal/queue'
import { pollLoop } from '@jadwal/runtime'
import { type RecordDeps, recordEntries } from './record-entries.ts'
import type { RecordingSignals } from './record-outboxes.ts'

export interface ClaimTimes {
  claimAfterMs: number
  claimEachMs: number
}

/** Records what dead recorders have left unacknowledged, at once and then from time to time. */
export async function claimAbandoned(
  deps: RecordDeps,
  { claimAfterMs, claimEachMs }: ClaimTimes,
  { stop, giveUp }: RecordingSignals,
): Promise<void> {
  const round = async (): Promise<number> => {
    let entries: OutboxEntry[]
    do {
      entries = await deps.reader.claimAbandoned(claimAfterMs)
      if (entries.length === 0) break
      deps.log.warn({ entries: entries.length }, 'entries taken over from a silent recorder')
      await recordEntries(deps, entries, giveUp).catch(deps.waiting)
    } while (!stop.aborted)
    await deps.reader.forgetSilentReaders(2 * claimAfterMs)
    return claimEachMs
  }
  await pollLoop(round, { signal: stop, log: deps.log, name: 'claim' })
}
