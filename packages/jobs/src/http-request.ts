import {
  type AnyJob,
  type Clock,
  defineJob,
  type JobContext,
  PermanentError,
  RetryLaterError,
  TimeoutError,
} from '@jadwal/sdk'
import type { Dispatcher } from 'undici'
import { z } from 'zod'
import { ForbiddenAddressError } from './http-address.ts'
import { type Answer, exchange, type Message, RedirectError } from './http-exchange.ts'
import { retryAfterMs } from './retry-after.ts'
import { signature } from './signature.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const SIGNATURE_HEADER = 'x-jadwal-signature'
const HeaderName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is no name of a header')

const HttpRequestPayload = z.strictObject({
  method: z.enum(METHODS),
  url: z
    .url({ protocol: /^https?$/ })
    .refine(
      (url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '',
      'must carry no user or password: use the header authorization with {"secret": "NAME"}',
    ),
  headers: z.record(HeaderName, z.string()).optional(),
  body: z.unknown().optional().describe('A text is sent as it is, anything else as JSON.'),
  hmac: z
    .union([
      z.string().min(1),
      z.strictObject({ secret: z.string().min(1), header: HeaderName.optional() }),
    ])
    .optional()
    .describe('The key, usually {"secret": "NAME"}; or the key and the header of the signature.'),
  timeoutMs: z.int().min(1).optional(),
})
type HttpRequestPayload = z.output<typeof HttpRequestPayload>

/** The answer was no 2xx. Thrown for those that may get better; others are permanent. */
class HttpStatusError extends Error {
  override name = 'HttpStatusError'
  readonly code: string

  constructor(sentence: string, status: number) {
    super(sentence)
    this.code = `HTTP_${status}`
  }
}

interface HttpRequestDeps {
  dispatcher: Dispatcher
  clock: Clock
}

/** `http.request`: one request; its answer is the result. */
export function httpRequest(deps: HttpRequestDeps): AnyJob {
  return defineJob({
    name: 'http.request',
    queue: 'http',
    description: 'Makes an HTTP request: 2xx succeeds, 408, 425, 429 and 5xx are tried again.',
    payload: HttpRequestPayload,
    attempts: 5,
    async handler(payload, ctx) {
      const answer = await ask(payload, ctx, deps)
      return judge(payload, answer, deps.clock)
    },
  })
}

async function ask(
  payload: HttpRequestPayload,
  ctx: JobContext,
  deps: HttpRequestDeps,
): Promise<Answer> {
  const timeout =
    payload.timeoutMs === undefined ? undefined : AbortSignal.timeout(payload.timeoutMs)
  const signal = timeout ? AbortSignal.any([ctx.signal, timeout]) : ctx.signal
  try {
    return await exchange(deps.dispatcher, message(payload, ctx, deps.clock), signal)
  } catch (error) {
    if (ctx.signal.aborted) throw ctx.signal.reason
    if (timeout?.aborted) throw new TimeoutError(payload.timeoutMs ?? 0)
    if (isHopeless(error)) throw new PermanentError(error.message, { cause: error })
    throw error
  }
}

function message(payload: HttpRequestPayload, ctx: JobContext, clock: Clock): Message {
  const { method, url, hmac } = payload
  const isText = typeof payload.body === 'string'
  const body = isText ? String(payload.body) : (JSON.stringify(payload.body) ?? '')
  const headers: Record<string, string> = {
    'user-agent': 'jadwal',
    'idempotency-key': ctx.runId,
    ...(body !== '' && !isText ? { 'content-type': 'application/json' } : {}),
  }
  for (const [name, value] of Object.entries(payload.headers ?? {}))
    headers[name.toLowerCase()] = value
  if (hmac !== undefined) {
    const key = typeof hmac === 'string' ? { secret: hmac } : hmac
    const header = (key.header ?? SIGNATURE_HEADER).toLowerCase()
    headers[header] = signature(key.secret, body, clock.now())
  }
  return { method, url: new URL(url), headers, body }
}

function judge(payload: HttpRequestPayload, answer: Answer, clock: Clock): Answer {
  const { status, headers } = answer
  if (status >= 200 && status < 300) return answer
  const sentence = `${payload.method} ${shown(payload.url)} answered ${status}`
  const error = new HttpStatusError(sentence, status)
  if (status < 500 && ![408, 425, 429].includes(status))
    throw new PermanentError(sentence, { cause: error })
  const answeredAt = new Date(headers['date'] ?? '')
  const now = Number.isNaN(answeredAt.getTime()) ? clock.now() : answeredAt
  const delayMs = retryAfterMs(headers['retry-after'], now)
  if (delayMs === undefined) throw error
  throw new RetryLaterError(delayMs, sentence, { cause: error })
}

/** Without the query, which may hold a key. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** Errors that another attempt meets again: the request itself can't be sent, or not there. */
function isHopeless(error: unknown): error is Error {
  return (
    error instanceof ForbiddenAddressError ||
    error instanceof RedirectError ||
    (error instanceof Error && 'code' in error && error.code === 'UND_ERR_INVALID_ARG')
  )
}
