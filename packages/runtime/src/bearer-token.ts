import { createHash, timingSafeEqual } from 'node:crypto'

/** The token of an `Authorization: Bearer …` header; undefined when there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
}

/** Compares secrets in a time that tells nothing about them. */
export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
