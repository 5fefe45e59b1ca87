import { redactedTexts } from '@jadwal/domain'
import { runError, type RunEnd } from '@jadwal/queue'
import type { z } from 'zod'
import type { AnyJob } from './job.ts'
import { withSecrets } from './payload-secrets.ts'
import { type Mask, maskOf } from './secret-mask.ts'

/** What an attempt is made with. */
export interface AttemptInput {
  payload: unknown
  /** Hides the secrets that were put into the payload, and what its job redacts; undefined when there is neither. */
  mask: Mask | undefined
}

export type CheckedPayload = AttemptInput | { refused: RunEnd }

/** What the handler gets: the payload with its secrets, as the job's schema parses it. */
export function checkPayload(
  run: { payload: unknown; payloadText: string },
  job: AnyJob,
  secrets: ReadonlyMap<string, string>,
): CheckedPayload | Promise<CheckedPayload> {
  let { payload } = run
  let hidden: Set<string> | undefined
  if (run.payloadText.includes('"secret"')) {
    try {
      hidden = new Set()
      payload = withSecrets(payload, secrets, hidden)
    } catch (error) {
      return { refused: { kind: 'dead', reason: 'permanent', error: runError(error) } }
    }
  }
  if (job.redact) hidden = new Set([...(hidden ?? []), ...redactedTexts(payload, job)])
  const mask = hidden && maskOf(hidden)
  const checked = (result: z.ZodSafeParseResult<unknown>): CheckedPayload =>
    result.success
      ? { payload: result.data, mask: maskOfParsed(result.data, { job, hidden, mask }) }
      : { refused: invalid(result.error, mask) }
  try {
    return checked(job.payload.safeParse(payload))
  } catch {
    // A schema with asynchronous parts can't be asked synchronously.
    return job.payload.safeParseAsync(payload).then(checked, (error: unknown) => ({
      refused: { kind: 'dead', reason: 'invalid-payload', error: runError(error, mask) },
    }))
  }
}

/** What the job redacts may look different once the schema has parsed it. */
function maskOfParsed(
  parsed: unknown,
  {
    job,
    hidden,
    mask,
  }: { job: AnyJob; hidden: ReadonlySet<string> | undefined; mask: Mask | undefined },
): Mask | undefined {
  if (!job.redact || !hidden) return mask
  const others = redactedTexts(parsed, job).filter((text) => !hidden.has(text))
  return others.length === 0 ? mask : maskOf([...hidden, ...others])
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
