import type { Clock } from '@jadwal/domain'
import { sameSecret } from '@jadwal/runtime'
import {
  type RequestHandler,
  type Response,
  type Router,
  Router as createRouter,
  urlencoded,
} from 'express'
import { z } from 'zod'
import type { Admission } from './api-deps.ts'
import { html } from './html.ts'
import { layout } from './layout.ts'
import { publicPath } from './public-path.ts'
import { makeSession, SESSION_COOKIE, SESSION_MS } from './session.ts'

const LoginForm = z.object({ token: z.string().catch(''), next: z.string().catch('/') })

/** `POST /login` makes a session out of the token, at most so often as `limit` lets; `POST /logout` ends it. */
export function loginRoutes(admission: Admission, clock: Clock, limit: RequestHandler): Router {
  const router = createRouter()
  router.post('/login', limit, urlencoded({ extended: false, limit: '8kb' }), (req, res) => {
    const form = LoginForm.parse(req.body ?? {})
    const next = localPath(form.next)
    if (admission.adminToken === undefined) return res.redirect(303, next)
    if (!sameSecret(form.token.trim(), admission.adminToken)) {
      return sendLogin(res, { next, message: 'This is not the token.' })
    }
    res.cookie(SESSION_COOKIE, makeSession(admission.adminToken, clock.now().getTime()), {
      httpOnly: true,
      sameSite: 'strict',
      secure: admission.isHttps || req.secure,
      path: publicPath(res, '/'),
      maxAge: SESSION_MS,
    })
    res.redirect(303, next)
  })
  router.post('/logout', (_req, res) => {
    res.clearCookie(SESSION_COOKIE, { path: publicPath(res, '/') })
    res.redirect(303, '/')
  })
  return router
}

/** The form that asks for the token, and nothing else. */
export function sendLogin(
  res: Response,
  { next, message }: { next: string; message?: string },
): void {
  const note = message === undefined ? '' : html`<p class="note" role="alert">${message}</p>`
  const body = html`<form method="post" action="login">
    <h1>Jadwal</h1>
    ${note}
    <label for="token">Admin token</label>
    <input
      id="token"
      name="token"
      type="password"
      autocomplete="current-password"
      required
      autofocus
    />
    <input name="next" type="hidden" value="${localPath(next)}" />
    <button>Sign in</button>
    <p class="soft">
      It is the value of <code>JADWAL_ADMIN_TOKEN</code>; <code>npm start</code> prints it.
    </p>
  </form>`
  res
    .status(401)
    .type('html')
    .send(layout(body, { base: publicPath(res, '/') }))
}

/** A path of this site. What a browser would take for another host becomes `/`. */
function localPath(path: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(path) ? path : '/'
}
