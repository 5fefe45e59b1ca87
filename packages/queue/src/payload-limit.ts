import { PayloadTooLargeError } from './errors.ts'
import { payloadJson } from './payload-json.ts'

/** The largest payload, in bytes as JSON, unless something else is configured. */
export const MAX_PAYLOAD_BYTES = 512 * 1024
/** The least and the most that may be configured. */
export const PAYLOAD_LIMITS = { min: 1_024, max: 16 * 1024 * 1024 } as const

/** The size of a payload as JSON. Throws `PayloadTooLargeError` or `InvalidRunError`. */
export function payloadBytes(
  payload: unknown,
  limitBytes: number = MAX_PAYLOAD_BYTES,
  index?: number,
): number {
  const bytes = Buffer.byteLength(payloadJson(payload, { index }))
  if (bytes > limitBytes) throw new PayloadTooLargeError(bytes, limitBytes, index)
  return bytes
}
