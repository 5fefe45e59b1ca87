import type { CookieOptions, Request, Response } from 'express'
import { basePathOf } from './public-path.ts'
import { SESSION_COOKIE, type Session } from './session.ts'

/** Scripts of our own pages read it and send it in a header, as axios does by itself. */
export const CSRF_COOKIE = 'XSRF-TOKEN'

export interface CookieRules {
  publicUrl: string | undefined
}

/** The value of a cookie that a request brings; of the first, where several have the name. */
export function readCookie(req: Request, name: string): string | undefined {
  for (const part of (req.headers.cookie ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2)
    if (key === name) return value
  }
  return undefined
}

/** What holds for each of our cookies: no other site makes a browser send it, and none is sent in the clear where TLS is in use. */
export function cookieOptions(req: Request, { publicUrl }: CookieRules): CookieOptions {
  return {
    sameSite: 'strict',
    secure: req.secure || publicUrl?.startsWith('https:') === true,
    // Without the slash at its end, so that it is sent to the base itself, too.
    path: basePathOf(publicUrl) || '/',
  }
}

/** Gives a browser its session: the cookie itself, and the one that its scripts read. */
export function sendSession(
  res: Response,
  rules: CookieRules,
  { cookie, session }: { cookie: string; session: Session },
): void {
  const options = { ...cookieOptions(res.req, rules), expires: session.endsAt }
  res.cookie(SESSION_COOKIE, cookie, { ...options, httpOnly: true })
  sendCsrfToken(res, rules, session)
}

export function sendCsrfToken(res: Response, rules: CookieRules, session: Session): void {
  const options = { ...cookieOptions(res.req, rules), expires: session.endsAt }
  res.cookie(CSRF_COOKIE, session.csrfToken, options)
}

/** Takes all of it from the browser again. */
export function clearSession(res: Response, rules: CookieRules): void {
  const options = cookieOptions(res.req, rules)
  res.clearCookie(SESSION_COOKIE, { ...options, httpOnly: true })
  res.clearCookie(CSRF_COOKIE, options)
}
