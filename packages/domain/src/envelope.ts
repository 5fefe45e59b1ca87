import { z } from 'zod'

/** `version.key id.nonce.ciphertext and tag`, the last two as base64url. */
const FORM = /^1\.([A-Za-z0-9_-]{1,32})\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{22,}$/

/** What lies in the place of an encrypted value, in Redis and in the history. */
export const Envelope = z.strictObject({ $encrypted: z.string().regex(FORM) })
export type Envelope = z.infer<typeof Envelope>

/** What is shown of an encrypted value to who may not see it. */
export const ENCRYPTED = '[encrypted]'

/** Looks at no more than two keys, however large the value. */
export function isEnvelope(value: unknown): value is Envelope {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  for (const key in value) if (key !== '$encrypted') return false
  const { $encrypted: text } = value as { $encrypted?: unknown }
  return typeof text === 'string' && FORM.test(text)
}

/** The id of the key that opens an envelope. */
export function envelopeKeyId({ $encrypted }: Envelope): string {
  return FORM.exec($encrypted)?.[1] ?? ''
}
