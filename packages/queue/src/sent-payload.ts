import { isEnvelope, type PayloadRules, type RunMessage, searchText } from '@jadwal/domain'
import { MissingKeyError } from './errors.ts'
import type { PayloadCipher } from './payload-cipher.ts'
import { payloadJson } from './payload-json.ts'

/** The job of a run, as far as it says what its payload looks like on its way. */
export type SentJob = { name: string } & PayloadRules

/**
 * What the message of a run carries of its payload: itself, or where the job asks for it an envelope,
 * together with what may be searched for. Throws `MissingKeyError`.
 */
export function sentPayload(
  payload: unknown,
  run: { id: string; job: SentJob },
  cipher: PayloadCipher | undefined,
): Pick<RunMessage, 'payload' | 'search'> {
  const { id, job } = run
  if (!job.encrypt) return { payload }
  if (!cipher) throw new MissingKeyError(job.name)
  const search = searchText(payload, job)
  const sealed = cipher.seal(payloadJson(payload), { what: 'payload', job: job.name, id })
  return search === undefined ? { payload: sealed } : { payload: sealed, search }
}

/**
 * What a message carried, as it was before it was sent. Throws `UnreadableEnvelopeError` or
 * `MissingKeyError`.
 */
export function openPayload(
  payload: unknown,
  run: { id: string; job: string },
  cipher: PayloadCipher | undefined,
): unknown {
  if (!isEnvelope(payload)) return payload
  if (!cipher) throw new MissingKeyError(run.job)
  return JSON.parse(cipher.open(payload, { what: 'payload', ...run }))
}
