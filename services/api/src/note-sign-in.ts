import type { Request } from 'express'
import type { AccessDeps } from './access.ts'
import type { Caller } from './caller.ts'

/** Coming and going is noted, but not refused when it can't be: it changes nothing. */
export function noteSignIn(
  { audit }: Pick<AccessDeps, 'audit'>,
  req: Request,
  { caller, action, status }: { caller: Caller; action: string; status: number },
): void {
  const requestId = typeof req.id === 'string' ? req.id : undefined
  audit.note({ caller, action, address: req.ip, requestId }, status)
}
