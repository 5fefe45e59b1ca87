import type { Request } from 'express'
import type { AccessDeps } from './access.ts'
import type { Caller } from './caller.ts'

type Deps = Pick<AccessDeps, 'audit' | 'countSignIn' | 'failures'>

/** Somebody has signed in. Coming and going is noted, but not refused when it can't be: it changes nothing. */
export function noteSignIn(
  deps: Deps,
  req: Request,
  { caller, status }: { caller: Caller; status: number },
): void {
  deps.countSignIn('signed-in')
  note(deps, req, { caller, action: 'login', status })
}

export function noteSignOut(deps: Deps, req: Request, caller: Caller): void {
  note(deps, req, { caller, action: 'logout', status: 303 })
}

/** Of somebody that the provider did not vouch for nobody knows the name. */
const NOBODY = 'oidc:unknown'

/**
 * Somebody was refused after having been at the provider: `name` is what that calls them. Anybody can
 * come so far, so of an address, and of a peer, a few a minute are noted; all are counted.
 */
export function noteRefusal(
  deps: Deps,
  req: Request,
  { outcome, name = NOBODY, why }: { outcome: 'no-role' | 'refused'; name?: string; why?: string },
): void {
  deps.countSignIn(outcome)
  if (!deps.failures.mayNote(req)) return
  const caller = { name, role: 'viewer', by: 'nothing' } as const
  const request = why === undefined ? undefined : { refused: why.slice(0, LONGEST_WHY) }
  note(deps, req, { caller, action: 'login', status: 403, request })
}

const LONGEST_WHY = 200

function note(
  { audit }: Deps,
  req: Request,
  { status, ...act }: { caller: Caller; action: string; status: number; request?: unknown },
): void {
  const requestId = typeof req.id === 'string' ? req.id : undefined
  audit.note({ ...act, address: req.ip, requestId }, status)
}
