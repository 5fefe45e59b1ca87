import { z } from 'zod'
import { DAY, MINUTE, SECOND } from './clock.ts'

/**
 * When a job's runs are kept from starting because most of them fail: the fuse opens when at least
 * `minAttempts` attempts ended within `windowMs` and the part of them that failed is `failureRate` or
 * more. After `openMs` one run is made as a probe; the fuse closes when it succeeds.
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
