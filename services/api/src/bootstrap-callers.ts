import { sameSecret } from '@jadwal/runtime'
import type { Admission } from './api-deps.ts'
import type { Caller } from './caller.ts'

/** Who has a token of the environment, which is in no table. No token that is made may have such a name. */
export const ADMIN = { name: 'admin', role: 'admin' } as const
export const VIEWER = { name: 'viewer', role: 'viewer' } as const

/** Who has `JADWAL_ADMIN_TOKEN` or `JADWAL_VIEWER_TOKEN`; undefined of any other token. */
export function bootstrapCaller(
  { adminToken, viewerToken }: Pick<Admission, 'adminToken' | 'viewerToken'>,
  token: string,
): Caller | undefined {
  if (adminToken !== undefined && sameSecret(token, adminToken))
    return { ...ADMIN, by: 'bootstrap' }
  if (viewerToken !== undefined && sameSecret(token, viewerToken))
    return { ...VIEWER, by: 'bootstrap' }
  return undefined
}
