import { ENCRYPTED, envelopeKeyId, isEnvelope } from '@jadwal/domain'
import { UnreadableEnvelopeError } from './errors.ts'
import type { PayloadCipher, Sealed } from './payload-cipher.ts'

/**
 * A value of a run as it is shown to who may see it: decrypted where it is encrypted, else a text in its
 * place that says why not. Never throws.
 */
export function openedValue(
  value: unknown,
  about: Sealed,
  cipher: PayloadCipher | undefined,
): unknown {
  if (!isEnvelope(value)) return value
  if (!cipher) return ENCRYPTED
  try {
    return JSON.parse(cipher.open(value, about))
  } catch (error) {
    const id = envelopeKeyId(value)
    return error instanceof UnreadableEnvelopeError && error.reason === 'no-key'
      ? `[encrypted with key ${id}, which is not here]`
      : `[encrypted with key ${id}, and can not be read]`
  }
}
