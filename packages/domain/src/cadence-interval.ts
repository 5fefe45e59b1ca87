import type { Cadence } from './cadence.ts'
import { shortestIntervalMs } from './cron-interval.ts'

/** The shortest time in ms between two ticks of a cadence, clock changes aside. */
export function cadenceIntervalMs(cadence: Cadence): number {
  return cadence.kind === 'every' ? cadence.everyMs : shortestIntervalMs(cadence.expression)
}
