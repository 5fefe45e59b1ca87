import { type Response, type Router, Router as createRouter, urlencoded } from 'express'
import { z } from 'zod'
import type { AccessDeps } from './access.ts'
import { ADMIN } from './bootstrap-callers.ts'
import { callerOfSession, findCaller } from './authenticate.ts'
import type { Caller } from './caller.ts'
import { clearSession, readCookie, sendSession } from './cookies.ts'
import { refuseOtherSites } from './csrf.ts'
import { localPath, sendLogin } from './login-page.ts'
import { Problem } from './problem.ts'
import { noteSignIn, noteSignOut } from './note-sign-in.ts'
import { addProviderRoutes } from './provider-routes.ts'
import { SESSION_COOKIE, type SessionOf } from './session.ts'

const LoginForm = z.object({ token: z.string().catch(''), next: z.string().catch('/') })

/**
 * `/login` makes a session out of a token, or of a sign-in at the provider; `/logout` ends it. Open to
 * everybody, but not to pages of other sites.
 */
export function loginRoutes(access: AccessDeps): Router {
  const router = createRouter()
  router.get('/login', (req, res) => {
    const { next } = LoginForm.parse({ token: '', next: req.query['next'] })
    if (access.sessions === undefined) return res.redirect(303, localPath(next))
    sendLogin(access, res, { next, status: 200 })
  })
  router.post('/login', urlencoded({ extended: false, limit: '8kb' }), async (req, res) => {
    refuseOtherSites(req, access.publicUrl)
    const { token, next } = LoginForm.parse(req.body ?? {})
    if (access.sessions === undefined) return res.redirect(303, localPath(next))
    const caller = await callerOrForm(access, res, { token: token.trim(), next })
    if (!caller) return
    sendSession(res, access, access.sessions.open(caller.of, caller.endsAt))
    noteSignIn(access, req, { caller, status: 303 })
    res.redirect(303, localPath(next))
  })
  addProviderRoutes(router, access)
  router.post('/logout', async (req, res) => {
    refuseOtherSites(req, access.publicUrl)
    const session = access.sessions?.read(readCookie(req, SESSION_COOKIE))
    clearSession(res, access)
    res.redirect(303, '/')
    const caller = session && (await callerOfSession(access, session).catch(() => undefined))
    if (caller) noteSignOut(access, req, caller)
  })
  return router
}

/**
 * Who has the token, and what their session will be of. Undefined when it was refused: a person got the
 * form again, a program the problem.
 */
async function callerOrForm(
  access: AccessDeps,
  res: Response,
  { token, next }: { token: string; next: string },
): Promise<(Caller & { of: SessionOf }) | undefined> {
  const { req } = res
  try {
    const caller = await findCaller(access, req, token)
    if (caller) return { ...caller, of: sessionOf(caller) }
    await access.failures.count(req)
  } catch (error) {
    if (!(error instanceof Problem) || req.accepts(['json', 'html']) !== 'html') throw error
    res.set(error.headers)
    sendLogin(access, res, { next, message: error.message, status: error.status })
    return undefined
  }
  sendLogin(access, res, { next, message: 'This token is not good here.' })
  return undefined
}

/** A session is of a made token, whose role it follows, or of `JADWAL_ADMIN_TOKEN`. No other token makes one. */
function sessionOf({ tokenId, role }: Caller): SessionOf {
  if (tokenId !== undefined) return { kind: 'token', tokenId }
  if (role === ADMIN.role) return { kind: 'bootstrap' }
  throw new Problem('forbidden', {
    detail:
      'JADWAL_VIEWER_TOKEN is for programs and makes no session: sign in with a token that an admin made for you.',
  })
}
