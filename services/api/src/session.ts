import { createHmac } from 'node:crypto'
import { sameSecret } from '@jadwal/runtime'

export const SESSION_COOKIE = 'jadwal_session'
export const SESSION_MS = 7 * 24 * 60 * 60 * 1_000

/**
 * The value of a session's cookie: when it ends, signed with a key made from the token. Nothing is
 * stored; another token ends all sessions.
 */
export function makeSession(token: string, nowMs: number): string {
  const endsAtMs = String(nowMs + SESSION_MS)
  return `${endsAtMs}.${sign(token, endsAtMs)}`
}

export function isSession(value: string | undefined, token: string, nowMs: number): boolean {
  const [endsAtMs = '', signature = '', rest] = (value ?? '').split('.')
  if (rest !== undefined || !/^\d{1,15}$/.test(endsAtMs)) return false
  return sameSecret(signature, sign(token, endsAtMs)) && Number(endsAtMs) > nowMs
}

/** The value of a cookie in a `Cookie` header. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of (header ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2)
    if (key === name) return value
  }
  return undefined
}

function sign(token: string, text: string): string {
  return createHmac('sha256', `jadwal-session:${token}`).update(text).digest('base64url')
}
