import { type Cron, parseCron } from './cron.ts'

/** Enough ticks to meet every distance that an expression has but the odd one across a leap day. */
const LOOKED_AT = 300

const known = new WeakMap<Cron, number>()

/** The shortest time in ms between two ticks of an expression, clock changes aside. Throws CronError. */
export function shortestIntervalMs(expression: string): number {
  const cron = parseCron(expression)
  const shortest = known.get(cron) ?? measure(cron)
  known.set(cron, shortest)
  return shortest
}

function measure(cron: Cron): number {
  if (cron.everyMs !== undefined) return cron.everyMs
  const { wallClock } = cron
  let shortest = Infinity
  let last = wallClock.next(0)
  for (let count = 0; last !== undefined && count < LOOKED_AT; count += 1) {
    const next = wallClock.next(last)
    if (next !== undefined) shortest = Math.min(shortest, next - last)
    last = next
  }
  return shortest
}
