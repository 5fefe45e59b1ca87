import { sameSecret } from '@jadwal/runtime'
import type { Request } from 'express'
import { Problem } from './problem.ts'
import type { Session } from './session.ts'

const HEADER = 'x-xsrf-token'

/** Whether a request changes nothing, whoever makes it. */
export function isReading({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/**
 * Throws a `Problem` when a browser says that a page of another site makes it ask. Programs, which say
 * nothing, pass: this alone protects nothing that a cookie opens.
 */
export function refuseOtherSites(req: Request, publicUrl: string | undefined): void {
  const { origin, 'sec-fetch-site': site } = req.headers
  if (typeof site === 'string' && site !== 'same-origin' && site !== 'none')
    throw fromElsewhere(`of another site (Sec-Fetch-Site: ${site})`)
  if (origin === undefined) return
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).host]
  const host = URL.canParse(origin) ? new URL(origin).host : ''
  if (host === '' || ![...own, req.host].includes(host)) throw fromElsewhere(`of ${origin}`)
}

/**
 * Throws a `Problem` unless a page of this very session asks: it sends, as the header X-XSRF-TOKEN, what
 * only its scripts can read in the cookie XSRF-TOKEN.
 */
export function requireCsrfToken(
  req: Request,
  session: Session,
  publicUrl: string | undefined,
): void {
  refuseOtherSites(req, publicUrl)
  const given = req.headers[HEADER]
  if (typeof given === 'string' && sameSecret(given, session.csrfToken)) return
  throw new Problem('forbidden', {
    detail:
      'A session may change something only with the header X-XSRF-TOKEN, equal to the cookie XSRF-TOKEN. Programs send a token as "Authorization: Bearer …" instead.',
  })
}

function fromElsewhere(page: string): Problem {
  return new Problem('forbidden', {
    detail: `A page ${page} may change nothing here. If this page is Jadwal's own, set JADWAL_PUBLIC_URL to the address that people open.`,
  })
}
