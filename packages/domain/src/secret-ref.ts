import { z } from 'zod'

/**
 * In a payload: stands for the worker's environment variable `JADWAL_SECRET_<secret>`, which the
 * worker puts in its place just before it calls the handler. It must be the whole object.
 */
const NAME = /^[A-Za-z0-9_]{1,100}$/
export const SecretRef = z.strictObject({
  secret: z.string().regex(NAME, 'must be letters, digits and "_", as in JADWAL_SECRET_NAME'),
})
export type SecretRef = z.infer<typeof SecretRef>

/** Looks at no more than two keys, however large the value: it is asked of each part of a payload. */
export function isSecretRef(value: unknown): value is SecretRef {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  for (const key in value) if (key !== 'secret') return false
  const { secret } = value as { secret?: unknown }
  return typeof secret === 'string' && NAME.test(secret)
}

/**
 * Whether an issue that a schema found may be owed to a secret that is not there yet: it lies at or
 * under a reference, or is a union that has one inside. The worker checks again with the secrets.
 */
export function isOwedToSecret(issue: z.core.$ZodIssue, payload: unknown): boolean {
  let value = payload
  for (const key of issue.path) {
    if (isSecretRef(value)) return true
    value = value !== null && typeof value === 'object' ? Reflect.get(value, key) : undefined
  }
  return issue.code === 'invalid_union' ? containsSecretRef(value) : isSecretRef(value)
}

function containsSecretRef(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false
  return isSecretRef(value) || Object.values(value).some(containsSecretRef)
}
