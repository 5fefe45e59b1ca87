import { createHash, randomBytes } from 'node:crypto'

/** What a token looks like: scanners for secrets know it by this. */
const FORM = /^jdw_[A-Za-z0-9_-]{43}$/

/** A token of 256 random bits. */
export function newToken(): string {
  return `jdw_${randomBytes(32).toString('base64url')}`
}

/** Whether a text has the form of a token that was made, which nobody guesses. */
export function isTokenText(text: string): boolean {
  return FORM.test(text)
}

/** What is kept of a token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
