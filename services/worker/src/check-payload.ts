import type { RunEnd, StartedRun } from '@jadwal/queue'
import { runError } from '@jadwal/queue'
import type { AnyJob } from '@jadwal/sdk'
import type { z } from 'zod'
import { withSecrets } from './payload-secrets.ts'

export type CheckedPayload = { payload: unknown } | { refused: RunEnd }

/** What the handler gets: the payload with its secrets, as the job's schema parses it. */
export function checkPayload(
  run: StartedRun,
  job: AnyJob,
  secrets: ReadonlyMap<string, string>,
): CheckedPayload | Promise<CheckedPayload> {
  let payload = run.message.payload
  if (run.payloadText.includes('"secret"')) {
    try {
      payload = withSecrets(payload, secrets)
    } catch (error) {
      return { refused: { kind: 'dead', reason: 'permanent', error: runError(error) } }
    }
  }
  try {
    return checked(job.payload.safeParse(payload))
  } catch {
    // A schema with asynchronous parts can't be asked synchronously.
    return job.payload.safeParseAsync(payload).then(checked, (error: unknown) => ({
      refused: { kind: 'dead', reason: 'invalid-payload', error: runError(error) },
    }))
  }
}

function checked(result: z.ZodSafeParseResult<unknown>): CheckedPayload {
  return result.success ? { payload: result.data } : { refused: invalid(result.error) }
}

/** Names each bad field but no value: one may be a secret. */
function invalid(error: z.ZodError): RunEnd {
  const problems = error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  )
  const message = `the payload breaks the job's schema: ${problems.join('; ')}`.slice(0, 8_000)
  return {
    kind: 'dead',
    reason: 'invalid-payload',
    error: { name: 'InvalidPayloadError', code: 'INVALID_PAYLOAD', message },
  }
}
