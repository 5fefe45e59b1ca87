import type { Response } from 'express'
import type { AccessDeps } from './access.ts'
import { type Html, html } from './html.ts'
import { layout } from './layout.ts'
import { publicPath } from './public-path.ts'

export interface LoginPage {
  /** The path of this site where the person wanted to go. */
  next: string
  message?: string
  /** Default 401. */
  status?: number
}

/**
 * The page that asks for a token, or sends to the provider, and shows nothing else. A browser that comes
 * by a link of another site did not send its session along, so it is made to ask again from here first.
 */
export function sendLogin(
  { provider }: Pick<AccessDeps, 'provider'>,
  res: Response,
  { next, message, status = 401 }: LoginPage,
): void {
  const path = localPath(next)
  if (message === undefined && comesByLink(res)) return sendOn(res, path, status)
  const note = message === undefined ? '' : html`<p class="note" role="alert">${message}</p>`
  const body = html`<form method="post" action="login">
    <h1>Jadwal</h1>
    ${note} ${provider ? providerLink(path) : ''}
    <label for="token">Token</label>
    <input
      id="token"
      name="token"
      type="password"
      autocomplete="current-password"
      required
      autofocus
    />
    <input name="next" type="hidden" value="${path}" />
    <button>Sign in</button>
    <p class="soft">
      Any token will do: one that an admin made for you, or the value of
      <code>JADWAL_ADMIN_TOKEN</code>, which <code>npm start</code> prints.
    </p>
  </form>`
  sendPage(res, body, status)
}

function providerLink(next: string): Html {
  return html`<a class="button" href="login/oidc?next=${encodeURIComponent(next)}"
      >Sign in with your organisation</a
    >
    <p class="soft">or with a token:</p>`
}

/** A page with a few words, and the way back to the login page. */
export function sendWords(res: Response, words: string, status: number): void {
  const body = html`<h1>Jadwal</h1>
    <p class="note" role="alert">${words}</p>
    <p><a href="login">Sign in in another way</a></p>`
  sendPage(res, body, status)
}

/** Likewise for who came back from a sign-in that is not under way any more. */
export function sendBeginAgain(res: Response, words: string): void {
  const body = html`<h1>Jadwal</h1>
    <p class="note" role="alert">${words}</p>
    <p><a class="button" href="login/oidc">Sign in with your organisation</a></p>
    <p><a href="./">Go to the start</a>, if you are signed in already.</p>`
  sendPage(res, body, 403)
}

/**
 * Lets a browser go on to a path of this site by a page rather than a redirect: a chain of redirects that
 * began at another site brings no cookie that is for this site alone.
 */
export function sendOn(res: Response, path: string, status = 200): void {
  const target = publicPath(res, path)
  const body = html`<p><a href="${target}">Go on</a></p>`
  const page = layout(body, { base: publicPath(res, '/'), goTo: target })
  res.status(status).type('html').send(page)
}

function sendPage(res: Response, body: Html, status: number): void {
  res
    .status(status)
    .type('html')
    .send(layout(body, { base: publicPath(res, '/') }))
}

function comesByLink({ req }: Response): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode } = req.headers
  return req.method === 'GET' && site === 'cross-site' && mode === 'navigate'
}

/** A path of this site. What a browser would take for another host becomes `/`. */
export function localPath(path: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(path) ? path : '/'
}
