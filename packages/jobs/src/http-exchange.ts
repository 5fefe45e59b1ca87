import { Agent, type Dispatcher } from 'undici'
import { checkHost, guardedLookup, systemLookup } from './http-address.ts'
import { headText, wholeText } from './safe-text.ts'

const REDIRECTS = 5
const BODY_BYTES = 64 * 1024
const REDIRECT_STATUS = new Set([301, 302, 303, 307, 308])
/** Of the answer's headers, those that a result keeps. */
const KEPT_HEADERS = [
  'content-length',
  'content-type',
  'date',
  'etag',
  'last-modified',
  'location',
  'retry-after',
  'x-request-id',
] as const

export interface Message {
  method: Dispatcher.HttpMethod
  url: URL
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  body: string
}

export interface Answer {
  status: number
  headers: Record<string, string>
  /** The first 64 KiB. */
  body: string
  truncated: boolean
}

/** A redirect that is not followed. */
export class RedirectError extends Error {
  override name = 'RedirectError'
  readonly code = 'REDIRECT'
}

/** The connections of `http.request`: every address is checked before it is connected to. */
export function openAgent(lookupAll = systemLookup): Agent {
  return new Agent({
    connect: { lookup: guardedLookup(lookupAll), timeout: 10_000 },
    // How long a request may take is the job's matter: its signal ends it.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** Sends a message and follows up to five redirects of GET and HEAD, each checked like the first address. */
export async function exchange(
  dispatcher: Dispatcher,
  first: Message,
  signal: AbortSignal,
): Promise<Answer> {
  let message = first
  for (let followed = 0; ; followed++) {
    checkHost(message.url)
    const { answer, location } = await send(dispatcher, message, signal)
    if (location === undefined || !['GET', 'HEAD'].includes(message.method)) return answer
    if (followed === REDIRECTS)
      throw new RedirectError(`more than ${REDIRECTS} redirects, from ${first.url.origin}`)
    message = redirected(message, location)
  }
}

async function send(
  dispatcher: Dispatcher,
  message: Message,
  signal: AbortSignal,
): Promise<{ answer: Answer; location: string | undefined }> {
  const { method, url, headers, body } = message
  const response = await dispatcher.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers,
    body: body === '' ? null : body,
    signal,
  })
  const kept = keptHeaders(response.headers)
  const location = REDIRECT_STATUS.has(response.statusCode) ? kept['location'] : undefined
  const read = await readHead(response.body)
  return { answer: { status: response.statusCode, headers: kept, ...read }, location }
}

/** Credentials are meant for the first origin only. */
function redirected(message: Message, location: string): Message {
  if (!URL.canParse(location, message.url.href))
    throw new RedirectError(`redirect to ${JSON.stringify(location)}, which is no address`)
  const url = new URL(location, message.url)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RedirectError(`redirect to ${url.protocol}, only http and https are followed`)
  if (url.origin === message.url.origin) return { ...message, url }
  const harmless = Object.entries(message.headers).filter(([name]) =>
    ['accept', 'accept-language', 'idempotency-key', 'user-agent'].includes(name),
  )
  return { ...message, url, headers: Object.fromEntries(harmless), body: '' }
}

function keptHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name of KEPT_HEADERS) {
    const value = headers[name]
    if (value !== undefined) kept[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return kept
}

async function readHead(
  body: AsyncIterable<Buffer>,
): Promise<{ body: string; truncated: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    // Leaving the loop destroys the stream, and so the connection: an endless body ends here.
    if (size > BODY_BYTES) break
  }
  const bytes = Buffer.concat(chunks)
  const truncated = bytes.length > BODY_BYTES
  return { body: truncated ? headText(bytes.subarray(0, BODY_BYTES)) : wholeText(bytes), truncated }
}
