import { createHmac, randomBytes, scryptSync } from 'node:crypto'
import { type Clock, DAY, HOUR, MINUTE, Role } from '@jadwal/domain'
import { sameSecret } from '@jadwal/runtime'
import { z } from 'zod'

export const SESSION_COOKIE = 'jadwal_session'
/** A session ends after this long, and earlier when nothing was asked for so long. */
const SESSION_MS = 7 * DAY
const IDLE_MS = 12 * HOUR
/** A cookie that says when something was asked last is made anew when that is so long ago. */
const RENEW_AFTER_MS = 5 * MINUTE

/** What a session's cookie holds. Its members have short names, since it comes with every request. */
const Content = z.object({
  /** Tells sessions apart. */
  i: z.string(),
  /** What it was made of: `JADWAL_ADMIN_TOKEN`, a token, or a sign-in at the provider. */
  k: z.enum(['bootstrap', 'token', 'provider']),
  /** The token's id. */
  t: z.string().optional(),
  /** Of a sign-in at the provider: at which, who, in which role. */
  p: z.string().optional(),
  n: z.string().optional(),
  r: Role.optional(),
  /** When it ends and when something was asked last, ms since the epoch. */
  e: z.number(),
  s: z.number(),
})
type Content = z.infer<typeof Content>

/** Whom a session is of. What role a token has is asked of the token, each time. */
export type SessionOf =
  | { kind: 'bootstrap' }
  | { kind: 'token'; tokenId: string }
  | { kind: 'provider'; provider: string; name: string; role: Role }

export interface Session {
  of: SessionOf
  endsAt: Date
  /** What a page of this session has to send along with what changes something. */
  csrfToken: string
  /** The value of its cookie, when it is time for a new one. */
  renewed: string | undefined
}

/**
 * Sessions of browsers. Nothing of them is stored: the cookie says all, signed with a key made from
 * `JADWAL_ADMIN_TOKEN`, so that every api knows it, and another token ends all sessions. The key is made
 * slowly, so that whoever has a cookie does not find out a short token by trying.
 */
export class Sessions {
  readonly #key: Buffer
  readonly #clock: Pick<Clock, 'now'>

  constructor(adminToken: string, clock: Pick<Clock, 'now'>) {
    this.#key = scryptSync(adminToken, 'jadwal session', 32)
    this.#clock = clock
  }

  /** The value of a new session's cookie. */
  open(of: SessionOf, endsBefore: Date | null = null): { cookie: string; session: Session } {
    const nowMs = this.#clock.now().getTime()
    const endsAtMs = Math.min(nowMs + SESSION_MS, endsBefore?.getTime() ?? Infinity)
    const content: Content = {
      i: randomBytes(16).toString('base64url'),
      k: of.kind,
      ...(of.kind === 'token' ? { t: of.tokenId } : {}),
      ...(of.kind === 'provider' ? { p: of.provider, n: of.name, r: of.role } : {}),
      e: endsAtMs,
      s: nowMs,
    }
    return { cookie: this.#seal(content), session: this.#session(content, of) }
  }

  /** The session of a cookie; undefined when it is over, or none of ours. */
  read(cookie: string | undefined): Session | undefined {
    const content = this.#unseal(cookie ?? '')
    const of = content && whose(content)
    if (!of) return undefined
    const nowMs = this.#clock.now().getTime()
    if (content.e <= nowMs || content.s + IDLE_MS <= nowMs) return undefined
    return this.#session(content, of)
  }

  #session(content: Content, of: SessionOf): Session {
    const nowMs = this.#clock.now().getTime()
    const isOld = content.s + RENEW_AFTER_MS <= nowMs
    return {
      of,
      endsAt: new Date(content.e),
      csrfToken: this.#sign(`csrf ${content.i}`),
      renewed: isOld ? this.#seal({ ...content, s: nowMs }) : undefined,
    }
  }

  #seal(content: Content): string {
    const text = Buffer.from(JSON.stringify(content)).toString('base64url')
    return `${text}.${this.#sign(`session ${text}`)}`
  }

  #unseal(cookie: string): Content | undefined {
    const [text = '', signature = '', rest] = cookie.split('.')
    if (rest !== undefined || !sameSecret(signature, this.#sign(`session ${text}`)))
      return undefined
    return Content.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString())).data
  }

  /** Signs what a sign-in at the provider has to remember meanwhile, too. */
  signState(text: string): string {
    return this.#sign(`state ${text}`)
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url')
  }
}

function whose({ k, t, p, n, r }: Content): SessionOf | undefined {
  if (k === 'bootstrap') return { kind: k }
  if (k === 'token') return t === undefined ? undefined : { kind: k, tokenId: t }
  if (p === undefined || n === undefined || r === undefined) return undefined
  return { kind: k, provider: p, name: n, role: r }
}
