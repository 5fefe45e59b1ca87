import type { RunEnd, StartedRun } from '@jadwal/queue'
import { runError } from '@jadwal/queue'
import type { z } from 'zod'
import type { AnyJob } from './job.ts'
import { withSecrets } from './payload-secrets.ts'
import { type Mask, maskOf } from './secret-mask.ts'

/** What an attempt is made with. */
export interface AttemptInput {
  payload: unknown
  /** Hides the secrets that were put into the payload; undefined when there are none. */
  mask: Mask | undefined
}

export type CheckedPayload = AttemptInput | { refused: RunEnd }

/** What the handler gets: the payload with its secrets, as the job's schema parses it. */
export function checkPayload(
  run: Pick<StartedRun, 'message' | 'payloadText'>,
  job: AnyJob,
  secrets: ReadonlyMap<string, string>,
): CheckedPayload | Promise<CheckedPayload> {
  let payload = run.message.payload
  let mask: Mask | undefined
  if (run.payloadText.includes('"secret"')) {
    try {
      const used = new Set<string>()
      payload = withSecrets(payload, secrets, used)
      mask = maskOf(used)
    } catch (error) {
      return { refused: { kind: 'dead', reason: 'permanent', error: runError(error) } }
    }
  }
  try {
    return checked(job.payload.safeParse(payload), mask)
  } catch {
    // A schema with asynchronous parts can't be asked synchronously.
    return job.payload.safeParseAsync(payload).then(
      (result) => checked(result, mask),
      (error: unknown) => ({
        refused: { kind: 'dead', reason: 'invalid-payload', error: runError(error, mask) },
      }),
    )
  }
}

function checked(result: z.ZodSafeParseResult<unknown>, mask: Mask | undefined): CheckedPayload {
  return result.success ? { payload: result.data, mask } : { refused: invalid(result.error, mask) }
}

/** Names each bad field but no value, unless the schema's own message does: one may be a secret. */
function invalid(error: z.ZodError, mask: Mask | undefined): RunEnd {
  const problems = error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  )
  const text = `the payload breaks the job's schema: ${problems.join('; ')}`
  const message = (mask ? mask(text) : text).slice(0, 8_000)
  return {
    kind: 'dead',
    reason: 'invalid-payload',
    error: { name: 'InvalidPayloadError', code: 'INVALID_PAYLOAD', message },
  }
}
