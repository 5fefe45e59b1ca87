import { isEnvelope } from '@jadwal/domain'
import {
  MissingKeyError,
  openPayload,
  type PayloadCipher,
  type RunEnd,
  type StartedRun,
  UnreadableEnvelopeError,
} from '@jadwal/queue'
import type { AnyJob } from '@jadwal/sdk'

/** What an attempt is given, as it was before it was sent. */
export interface OpenedPayload {
  payload: unknown
  payloadText: string
}

/**
 * Decrypts a run's payload where it is encrypted, and sees to it that what the attempt leaves behind is
 * encrypted, too. A payload that can't be decrypted here never will be: the run is dead.
 */
export function openRun(
  run: StartedRun,
  job: Pick<AnyJob, 'encrypt'>,
  cipher: PayloadCipher | undefined,
): OpenedPayload | { refused: RunEnd } {
  const { payload } = run.message
  const isEncrypted = isEnvelope(payload)
  if (!isEncrypted && !job.encrypt) return { payload, payloadText: run.payloadText }
  const about = { job: run.job, id: run.id }
  try {
    if (!cipher) throw new MissingKeyError(run.job)
    run.seal = (what, text) => cipher.seal(text, { what, ...about })
    const opened = openPayload(payload, about, cipher)
    return { payload: opened, payloadText: isEncrypted ? JSON.stringify(opened) : run.payloadText }
  } catch (error) {
    if (!(error instanceof MissingKeyError || error instanceof UnreadableEnvelopeError)) throw error
    const { name, code, message } = error
    return { refused: { kind: 'dead', reason: 'invalid-payload', error: { name, code, message } } }
  }
}

/** The end of an attempt, its result encrypted if its payload was. */
export function sealedEnd({ seal }: Pick<StartedRun, 'seal'>, end: RunEnd): RunEnd {
  if (!seal || end.kind !== 'succeeded' || end.result === undefined) return end
  return { ...end, result: JSON.stringify(seal('result', end.result)) }
}
