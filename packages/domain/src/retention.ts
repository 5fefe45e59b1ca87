import { z } from 'zod'

/** How long the history of a job's runs is kept, where that is not as long as of all others. */
export const Retention = z.strictObject({
  /** Days from a run's end; shorter or longer than `JADWAL_RETENTION_DAYS`. */
  days: z.int().min(1).max(3_650).optional(),
  /** After a day, succeeded runs go and all others stay. */
  failures: z.boolean().optional(),
  /** After a day, only this share of the succeeded runs stays. */
  sample: z.number().min(0).max(1).optional(),
})
export type Retention = z.infer<typeof Retention>
