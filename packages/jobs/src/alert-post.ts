import { type JobContext, PermanentError, RetryLaterError, type Clock } from '@jadwal/sdk'
import type { Dispatcher } from 'undici'
import { ForbiddenAddressError } from './http-address.ts'
import { exchange, RedirectError } from './http-exchange.ts'
import { retryAfterMs } from './retry-after.ts'
import { signature } from './signature.ts'

export interface PostDeps {
  dispatcher: Dispatcher
  clock: Clock
}

export interface Post {
  url: string
  body: unknown
  headers?: Record<string, string>
  /** Signs the body, in the header `x-jadwal-signature`. */
  hmac?: string | undefined
}

/** The last attempts may come hours later: what an answer asks for is not waited out for longer. */
const LONGEST_WAIT_MS = 20 * 60_000

/**
 * POSTs JSON to a channel's address. Any answer but 2xx fails: 400, 401, 403, 404, 405, 410, 413, 415 and
 * 422 for good. An error names the host alone, since the rest of the address may be what opens the door.
 */
export async function postMessage(
  { dispatcher, clock }: PostDeps,
  { url: address, body, headers = {}, hmac }: Post,
  ctx: JobContext,
): Promise<{ status: number }> {
  const url = new URL(address)
  const text = JSON.stringify(body)
  const message = {
    method: 'POST' as const,
    url,
    headers: {
      'user-agent': 'jadwal',
      'content-type': 'application/json',
      'idempotency-key': ctx.runId,
      ...headers,
      ...(hmac === undefined ? {} : { 'x-jadwal-signature': signature(hmac, text, clock.now()) }),
    },
    body: text,
  }
  const { status, headers: answered } = await exchange(dispatcher, message, ctx.signal).catch(
    (error: unknown) => {
      throw translated(error, url, ctx.signal)
    },
  )
  if (status >= 200 && status < 300) return { status }
  const sentence = `${url.host} answered ${status}`
  if (FINAL.has(status)) throw new PermanentError(sentence)
  const delayMs = retryAfterMs(answered['retry-after'], clock.now())
  if (delayMs === undefined) throw new Error(sentence)
  throw new RetryLaterError(Math.min(delayMs, LONGEST_WAIT_MS), sentence)
}

const FINAL: ReadonlySet<number> = new Set([
  301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 413, 415, 422,
])

function translated(error: unknown, url: URL, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof ForbiddenAddressError) return new PermanentError(error.message)
  if (error instanceof RedirectError) return new PermanentError(`${url.host} redirects elsewhere`)
  const reason = error instanceof Error ? error.message : String(error)
  const failure = new Error(`${url.host} cannot be reached: ${reason}`)
  return error instanceof Error && 'code' in error
    ? Object.assign(failure, { code: error.code })
    : failure
}
