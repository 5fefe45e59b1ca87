import { DAY, Duration, SECOND } from '@jadwal/domain'
import { z } from 'zod'
import { Instant } from './run-query.ts'

const BUCKET_RULE = 'must be whole seconds, 1s to 1d, such as 1m'

/** The query of `GET /schedules/load`. */
export const LoadQuery = z.strictObject({
  from: Instant.optional(),
  to: Instant.optional(),
  bucket: Duration.refine(
    (ms) => ms % SECOND === 0 && ms >= SECOND && ms <= DAY,
    BUCKET_RULE,
  ).optional(),
})
