import { isSecretRef } from '@jadwal/domain'
import { PermanentError } from './job-errors.ts'

/**
 * A copy of the payload with each `{ "secret": "NAME" }` replaced by what the environment has for it;
 * what was put in is added to `used`. Throws a `PermanentError` that names a secret this worker does not have.
 */
export function withSecrets(
  payload: unknown,
  secrets: ReadonlyMap<string, string>,
  used: Set<string>,
): unknown {
  if (payload === null || typeof payload !== 'object') return payload
  if (isSecretRef(payload)) {
    const value = secrets.get(payload.secret)
    if (value !== undefined) {
      used.add(value)
      return value
    }
    throw new PermanentError(
      `the payload needs the secret ${payload.secret}, but this worker has no JADWAL_SECRET_${payload.secret} in its environment`,
    )
  }
  if (Array.isArray(payload)) return payload.map((item) => withSecrets(item, secrets, used))
  return Object.fromEntries(
    Object.entries(payload).map(([key, value]) => [key, withSecrets(value, secrets, used)]),
  )
}
