/**
 * Text of bytes that may be anything, safe to keep: Postgres refuses NUL, and half a character at a
 * cut is left out. What is no UTF-8 becomes U+FFFD, and so does NUL.
 */

/** Of bytes that were cut at their end. */
export function headText(bytes: Uint8Array): string {
  return clean(new TextDecoder().decode(bytes, { stream: true }))
}

/** Of bytes that were cut at their beginning. */
export function tailText(bytes: Uint8Array): string {
  let start = 0
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start])) start++
  return clean(new TextDecoder().decode(bytes.subarray(start)))
}

/** Of bytes that are whole. */
export function wholeText(bytes: Uint8Array): string {
  return clean(new TextDecoder().decode(bytes))
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function clean(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD')
}
