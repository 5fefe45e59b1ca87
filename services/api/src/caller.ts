import { isAtLeast, type Role } from '@jadwal/domain'
import type { RequestHandler, Response } from 'express'
import { Problem } from './problem.ts'

/** Who makes a request. */
export interface Caller {
  /** What the history calls them: who changed a schedule, settled a letter, made an entry of the audit log. */
  name: string
  role: Role
  /** How they came in: with a token of the environment or one of their own, by a cookie, or without any (`JADWAL_AUTH=off`). */
  by: 'bootstrap' | 'token' | 'session' | 'nothing'
  /** Of a token of their own, also where a session was made of it. */
  tokenId?: string
  /** When the token or the session ends. */
  endsAt?: Date
}

const CALLER = Symbol('caller')
type Locals = Record<symbol, Caller | undefined>

/** Notes who makes the request that is answered with `res`. */
export function noteCaller(res: Response, caller: Caller): void {
  ;(res.locals as Locals)[CALLER] = caller
}

/** Who makes the request. Throws where nobody was let in. */
export function callerOf(res: Response): Caller {
  const caller = (res.locals as Locals)[CALLER]
  if (!caller) throw new Error('nobody was let in: the route stands above authenticate()')
  return caller
}

/** Lets pass who has a role, and answers others with a problem. */
export function requireRole(role: Role): RequestHandler {
  return (req, res, next) => {
    const caller = callerOf(res)
    if (isAtLeast(caller.role, role)) return next()
    throw new Problem('forbidden', {
      detail: `${req.method} ${req.baseUrl}${req.path} needs the role ${role}; ${caller.name} has the role ${caller.role}.`,
    })
  }
}
