import { z } from 'zod'
import { isTimezone } from './zone-clock.ts'

/** An IANA time zone that this Node knows. */
export const Timezone = z
  .string()
  .refine(isTimezone, { error: 'is no IANA time zone: write for example Asia/Jakarta or UTC' })
