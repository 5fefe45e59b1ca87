import { HOUR, MINUTE } from '@jadwal/domain'
import type { Request, Response, Router } from 'express'
import { z } from 'zod'
import type { AccessDeps } from './access.ts'
import { sameSecret } from '@jadwal/runtime'
import { cookieOptions, readCookie, sendSession } from './cookies.ts'
import { localPath, sendBeginAgain, sendOn, sendWords } from './login-page.ts'
import { noteRefusal, noteSignIn } from './note-sign-in.ts'
import { type Provider, ProviderAwayError, SignInRefusedError } from './provider.ts'
import type { Sessions } from './session.ts'

/** What the browser keeps while the person is at the provider. Sent along when the provider sends them back. */
const COOKIE = 'jadwal_sign_in'
const SIGN_IN_WITHIN_MS = 10 * MINUTE
/** Who lost a role at the provider loses it here after so long. */
const SESSION_MS = 12 * HOUR

const Remembered = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  untilMs: z.number(),
})
type Remembered = z.infer<typeof Remembered>

/** `/login/oidc`: to the provider and back. Only where there is one. */
export function addProviderRoutes(router: Router, access: AccessDeps): void {
  const { provider, sessions, publicUrl } = access
  if (!provider || !sessions || publicUrl === undefined) return
  const deps = { ...access, provider, sessions, publicUrl }
  router.get('/login/oidc', async (req, res) => goToProvider(deps, req, res))
  router.get('/login/oidc/callback', async (req, res) => comeBack(deps, req, res))
}

/** What came back is not of the sign-in that this browser has begun last. */
class StaleSignInError extends Error {
  override name = 'StaleSignInError'
  readonly code = 'STALE_SIGN_IN'
}

interface Deps extends AccessDeps {
  provider: Provider
  sessions: Sessions
  publicUrl: string
}

async function goToProvider(deps: Deps, req: Request, res: Response): Promise<void> {
  const { provider, sessions, clock } = deps
  const next = z.string().catch('/').parse(req.query['next'])
  try {
    const { url, signIn } = await provider.begin(callbackOf(deps).href)
    const untilMs = clock.now().getTime() + SIGN_IN_WITHIN_MS
    const remembered: Remembered = { ...signIn, next: localPath(next), untilMs }
    const text = Buffer.from(JSON.stringify(remembered)).toString('base64url')
    const value = `${text}.${sessions.signState(text)}`
    res.cookie(COOKIE, value, { ...stateCookie(deps, req), maxAge: SIGN_IN_WITHIN_MS })
    res.redirect(303, url)
  } catch (error) {
    noteTrouble(deps, req, error)
    sendTrouble(res, error)
  }
}

async function comeBack(deps: Deps, req: Request, res: Response): Promise<void> {
  const { provider, sessions, clock } = deps
  const nowMs = clock.now().getTime()
  const remembered = recall(sessions, readCookie(req, COOKIE))
  try {
    if (!remembered || remembered.untilMs <= nowMs)
      throw new StaleSignInError(
        'This sign-in is over already, was begun more than ten minutes ago, or in another browser.',
      )
    // The one that this browser has begun since, in another tab, may go on.
    if (req.query['state'] !== remembered.state)
      throw new StaleSignInError(
        'What came back belongs to no sign-in that was begun here, or to one before the last.',
      )
    res.clearCookie(COOKIE, stateCookie(deps, req))
    const url = callbackOf(deps)
    url.search = new URL(req.originalUrl, url).search
    const { name, role } = await provider.finish(url, remembered)
    if (!role) {
      noteRefusal(deps, req, { outcome: 'no-role', name })
      const words = `${name} has signed in, but has no role here: the provider names none of those that JADWAL_OIDC_ROLES lets in. Ask who looks after Jadwal.`
      return sendWords(res, words, 403)
    }
    const of = { kind: 'provider', provider: provider.key, name, role } as const
    const opened = sessions.open(of, new Date(nowMs + SESSION_MS))
    sendSession(res, deps, opened)
    const caller = { name, role, by: 'session' } as const
    noteSignIn(deps, req, { caller, status: 200 })
    sendOn(res, localPath(remembered.next))
  } catch (error) {
    noteTrouble(deps, req, error)
    sendTrouble(res, error)
  }
}

function noteTrouble(deps: Deps, req: Request, error: unknown): void {
  if (error instanceof ProviderAwayError) deps.countSignIn('provider-away')
  else if (error instanceof StaleSignInError) deps.countSignIn('stale')
  else if (error instanceof SignInRefusedError)
    noteRefusal(deps, req, { outcome: 'refused', why: error.message })
}

function sendTrouble(res: Response, error: unknown): void {
  if (error instanceof ProviderAwayError)
    return sendWords(
      res,
      'The provider that people sign in at does not answer right now. Try again in a moment, or sign in with a token.',
      503,
    )
  if (error instanceof StaleSignInError)
    return sendBeginAgain(res, `You were not signed in. ${error.message} Begin again.`)
  if (error instanceof SignInRefusedError)
    return sendWords(res, `You were not signed in. ${error.message}`, 403)
  throw error
}

/** Where the provider sends people back to: to be told to it in advance. */
function callbackOf({ publicUrl }: Deps): URL {
  return new URL(`${publicUrl.replace(/\/+$/, '')}/login/oidc/callback`)
}

/** The way back begins at another site, so a browser would keep a strict cookie to itself. */
function stateCookie(deps: Deps, req: Request) {
  const { path = '/', ...options } = cookieOptions(req, deps)
  return {
    ...options,
    path: `${path.replace(/\/$/, '')}/login/oidc`,
    sameSite: 'lax' as const,
    httpOnly: true,
  }
}

function recall(sessions: Sessions, cookie: string | undefined): Remembered | undefined {
  const [text = '', signature = ''] = (cookie ?? '').split('.')
  if (!sameSecret(signature, sessions.signState(text))) return undefined
  return Remembered.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString())).data
}
