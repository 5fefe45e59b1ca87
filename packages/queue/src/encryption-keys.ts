import { z } from 'zod'
import type { EncryptionKey } from './encryption-key.ts'
import { PayloadCipher } from './payload-cipher.ts'

const KEY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/
const BYTES = 32

/**
 * Reads `k2:<base64 of 32 bytes>,k1:…`. What is wrong is told as a text that follows the variable's
 * name; it has the ids of keys, never the keys.
 */
export function readEncryptionKeys(text: string): EncryptionKey[] | string {
  const keys: EncryptionKey[] = []
  for (const [at, part] of text.split(',').entries()) {
    const [, id = '', base64 = ''] = KEY.exec(part.trim()) ?? []
    const secret = Buffer.from(base64, 'base64')
    if (secret.length !== BYTES)
      return `must be keys as id:base64 with commas between them, each of 32 bytes (openssl rand -base64 32), which number ${at + 1} is not`
    if (keys.some((key) => key.id === id)) return `must not have two keys with the id ${id}`
    keys.push({ id, secret })
  }
  return keys
}

/** The variable `JADWAL_ENCRYPTION_KEYS`. */
export const encryptionKeysEnv = z
  .string()
  .transform((text, ctx) => {
    const keys = readEncryptionKeys(text)
    if (typeof keys !== 'string') return keys
    ctx.addIssue({ code: 'custom', message: keys })
    return z.NEVER
  })
  .optional()

/** Undefined without keys. */
export function cipherOf(keys: readonly EncryptionKey[] | undefined): PayloadCipher | undefined {
  return keys && new PayloadCipher(keys)
}
