import type { Clock } from '@jadwal/domain'
import { bearerToken, sameSecret } from '@jadwal/runtime'
import type { Request, RequestHandler, Response } from 'express'
import type { Admission } from './api-deps.ts'
import { noteCaller } from './caller.ts'
import { isLoopback } from './config.ts'
import { sendLogin } from './login.ts'
import { Problem } from './problem.ts'
import { isSession, readCookie, SESSION_COOKIE } from './session.ts'

/** What who has `JADWAL_ADMIN_TOKEN` is called. */
const ADMIN = 'admin'

/**
 * Lets in whoever brings the token: in the Authorization header, or, for what only reads, in the
 * session's cookie. A cookie alone changes nothing, so that no other site can make a browser act.
 * People without it get the login form, programs a problem document. A wrong token in the header goes
 * through `limit`; a right one never does.
 */
export function authenticate(
  admission: Admission,
  clock: Clock,
  limit: RequestHandler,
): RequestHandler {
  const { adminToken } = admission
  if (adminToken === undefined) return refuseForeignNames
  return (req, res, next) => {
    if (isMetrics(req) && hasToken(req, admission.metricsToken)) {
      noteCaller(res, { name: 'metrics', role: 'viewer', by: 'token' })
      return next()
    }
    if (hasToken(req, adminToken)) {
      noteCaller(res, { name: ADMIN, role: 'admin', by: 'bootstrap' })
      return next()
    }
    const isReading = req.method === 'GET' || req.method === 'HEAD'
    const cookie = readCookie(req.headers.cookie, SESSION_COOKIE)
    if (isReading && isSession(cookie, adminToken, clock.now().getTime())) {
      noteCaller(res, { name: ADMIN, role: 'admin', by: 'session' })
      return next()
    }
    if (!req.headers.authorization) return refuse(req, res)
    return limit(req, res, (error?: unknown) => {
      if (error === undefined) refuse(req, res)
      else next(error)
    })
  }
}

function refuse(req: Request, res: Response): void {
  const isReading = req.method === 'GET' || req.method === 'HEAD'
  if (isReading && isPage(req)) return sendLogin(res, { next: req.originalUrl })
  throw new Problem('unauthorized', {
    detail: isReading
      ? 'Send the token as "Authorization: Bearer …".'
      : 'Send the token as "Authorization: Bearer …": a session in a browser may only read.',
    headers: { 'WWW-Authenticate': 'Bearer realm="jadwal"' },
  })
}

function hasToken(req: Request, token: string | undefined): boolean {
  if (token === undefined) return false
  return sameSecret(bearerToken(req.headers.authorization) ?? '', token)
}

function isMetrics(req: Request): boolean {
  return req.path === '/metrics'
}

/** A page that a person opens: not the api, and not what a page loads. */
function isPage(req: Request): boolean {
  if (req.path.startsWith('/api/') || isMetrics(req)) return false
  return req.headers.accept?.includes('text/html') ?? false
}

/**
 * Without a token, only the machine itself may ask. A page of another site that points its own name
 * to 127.0.0.1 would be let in by the address, so the name is looked at; and one that makes a browser
 * act names itself as the origin.
 */
const refuseForeignNames: RequestHandler = (req, res, next) => {
  const { host = '', origin } = req.headers
  if (!isLoopback(host.replace(/:\d+$/, ''))) {
    throw new Problem('forbidden', {
      detail: 'JADWAL_AUTH=off answers only to localhost, 127.0.0.1 and [::1].',
    })
  }
  noteCaller(res, { name: 'local', role: 'admin', by: 'nothing' })
  const isReading = req.method === 'GET' || req.method === 'HEAD'
  if (isReading || origin === undefined || origin.replace(/^https?:\/\//, '') === host)
    return next()
  throw new Problem('forbidden', { detail: `A page of ${origin} may change nothing here.` })
}
