import { z } from 'zod'
import { DAY, MINUTE, SECOND } from './clock.ts'
import type { RunReason } from './run.ts'

/**
 * When a job's runs are kept from starting because most of them fail: the fuse opens when at least
 * `minAttempts` attempts ended within `windowMs` and the part of them that failed is `failureRate` or
 * more. After `openMs` runs are let through in steps of 1, 10 and 100, each as long as its failures stay
 * below the rate. The fuse closes after the last; with none parked, as soon as a step goes well so far.
 */
export const Fuse = z.strictObject({
  failureRate: z.number().gt(0).max(1),
  minAttempts: z.int().min(1).max(100_000),
  windowMs: z.int().min(SECOND).max(DAY),
  openMs: z.int().min(100).max(DAY),
})
export type Fuse = z.infer<typeof Fuse>

export const DEFAULT_FUSE: Fuse = {
  failureRate: 0.5,
  minAttempts: 20,
  windowMs: MINUTE,
  openMs: 30 * SECOND,
}

/** The longest a fuse stays open, as a multiple of its `openMs`. */
const LONGEST_OPEN = 10

/** How many runs are let through one after the other before all are: first the probe itself. */
const STEPS = [1, 10, 100] as const

/** One step of a fuse that closes: so many runs are let through, and so many failures among them open it again. */
export interface FuseStep {
  quota: number
  limit: number
}

/** How long a fuse stays open, in ms, the first time and each further time in a row; the last from then on. */
export function openTimesMs({ openMs }: Fuse): number[] {
  const times: number[] = []
  for (let factor = 1; factor < LONGEST_OPEN; factor *= 2) times.push(openMs * factor)
  return [...times, openMs * LONGEST_OPEN]
}

/** The steps in which a fuse lets runs through after it was open, each while the failures stay below its rate. */
export function fuseSteps({ failureRate }: Fuse): FuseStep[] {
  return STEPS.map((quota) => ({ quota, limit: failuresToOpen(failureRate, quota) }))
}

/** The least number of failures among `ended` attempts that is `failureRate` of them or more. */
function failuresToOpen(failureRate: number, ended: number): number {
  const limit = Math.ceil(failureRate * ended)
  // 0.07 * 100 is a little more than 7.
  return Math.max(1, (limit - 1) / ended >= failureRate ? limit - 1 : limit)
}

/**
 * What the end of an attempt says about the health of its job. Undefined: nothing, since it was cut short,
 * or the fault lies with this run alone (`PermanentError`, a wrong payload, a job that nobody knows).
 */
export function fuseSign(end: {
  kind: string
  reason?: RunReason | undefined
}): 'good' | 'bad' | undefined {
  if (end.kind === 'succeeded') return 'good'
  if (end.kind === 'retry' || (end.kind === 'dead' && end.reason === 'failed')) return 'bad'
  return undefined
}
