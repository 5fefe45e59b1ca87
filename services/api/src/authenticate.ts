import { bearerToken, isTokenText, sameSecret } from '@jadwal/runtime'
import type { Request, RequestHandler, Response } from 'express'
import type { AccessDeps } from './access.ts'
import { ADMIN, bootstrapCaller } from './bootstrap-callers.ts'
import { type Caller, noteCaller } from './caller.ts'
import { CSRF_COOKIE, readCookie, sendCsrfToken, sendSession } from './cookies.ts'
import { isReading, requireCsrfToken } from './csrf.ts'
import { sendLogin } from './login-page.ts'
import { isLoopback } from './loopback.ts'
import { Problem } from './problem.ts'
import { SESSION_COOKIE, type Session } from './session.ts'

/**
 * Lets in whoever brings a token in the Authorization header, or the cookie of a session. A session may
 * change something only when a page of its own asks (`csrf.ts`). People without either get the login
 * page, programs a problem document.
 */
export function authenticate(access: AccessDeps): RequestHandler {
  const { sessions } = access
  if (sessions === undefined) return refuseForeignNames
  return async (req, res, next) => {
    const token = bearerToken(req.headers.authorization)
    if (token === undefined) {
      const cookie = readCookie(req, SESSION_COOKIE)
      const session = sessions.read(cookie)
      const caller = session && (await callerOfSession(access, session))
      if (!session || !caller) return refuse(access, req, res)
      if (!isReading(req)) requireCsrfToken(req, session, access.publicUrl)
      keepUp(access, res, session)
      noteCaller(res, caller)
      return next()
    }
    const caller = await findCaller(access, req, token)
    if (!caller) {
      await access.failures.count(req)
      return refuse(access, req, res)
    }
    noteCaller(res, caller)
    next()
  }
}

/**
 * Who has a token: one of the environment or one of the api's own. Throws a `Problem` when that can't be
 * told, and when too many wrong ones came from there: then only a token of 256 bits is looked at, which
 * nobody guesses.
 */
export async function findCaller(
  access: AccessDeps,
  req: Request,
  token: string,
): Promise<Caller | undefined> {
  const { tokens, uses, failures } = access
  if (!isTokenText(token)) failures.refuseGuess(req)
  const known = callerOfMetrics(access, req, token) ?? bootstrapCaller(access, token)
  if (known) return known
  const holder = await tokens.find(token)
  if (!holder) return undefined
  uses.note(holder.id)
  const { id, name, role, expires_at: endsAt } = holder
  return { name, role, by: 'token', tokenId: id, ...(endsAt ? { endsAt } : {}) }
}

/** Undefined when what the session was made of is good no longer. */
export async function callerOfSession(
  { tokens, uses, provider }: AccessDeps,
  { of, endsAt }: Session,
): Promise<Caller | undefined> {
  if (of.kind === 'bootstrap') return { ...ADMIN, by: 'session', endsAt }
  if (of.kind === 'provider')
    return provider?.key === of.provider
      ? { name: of.name, role: of.role, by: 'session', endsAt }
      : undefined
  const holder = await tokens.findById(of.tokenId)
  if (!holder) return undefined
  uses.note(holder.id)
  return { name: holder.name, role: holder.role, by: 'session', tokenId: holder.id, endsAt }
}

function callerOfMetrics(
  { metricsToken }: AccessDeps,
  req: Request,
  token: string,
): Caller | undefined {
  if (metricsToken === undefined || !isMetrics(req) || !sameSecret(token, metricsToken))
    return undefined
  return { name: 'metrics', role: 'viewer', by: 'token' }
}

/** Renews the session's cookies while it is in use. */
function keepUp(access: AccessDeps, res: Response, session: Session): void {
  if (session.renewed !== undefined) sendSession(res, access, { cookie: session.renewed, session })
  else if (readCookie(res.req, CSRF_COOKIE) !== session.csrfToken)
    sendCsrfToken(res, access, session)
}

function refuse(access: AccessDeps, req: Request, res: Response): void {
  if (isReading(req) && isPage(req)) return sendLogin(access, res, { next: req.originalUrl })
  throw new Problem('unauthorized', {
    detail: 'Send a token that is good as "Authorization: Bearer …", or sign in with a browser.',
    headers: { 'WWW-Authenticate': 'Bearer realm="jadwal"' },
  })
}

function isMetrics(req: Request): boolean {
  return req.path === '/metrics'
}

/** A page that a person opens: not the api, and not what a page loads. */
function isPage(req: Request): boolean {
  const isOfApi = /^\/+api\//i.test(req.path) && !req.path.endsWith('/docs')
  if (isOfApi || isMetrics(req)) return false
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
  if (isReading(req) || origin === undefined || origin.replace(/^https?:\/\//, '') === host)
    return next()
  throw new Problem('forbidden', { detail: `A page of ${origin} may change nothing here.` })
}
