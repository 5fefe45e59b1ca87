import type { Cadence } from './cadence.ts'

/** The first tick strictly after `afterMs`, in ms since the epoch; undefined when there is none. */
export function nextTick(cadence: Cadence, afterMs: number): number | undefined {
  if (cadence.kind === 'every') {
    const { everyMs, offsetMs } = cadence
    return Math.floor((afterMs - offsetMs) / everyMs) * everyMs + offsetMs + everyMs
  }
  throw new Error('cron: see cron.ts')
}
