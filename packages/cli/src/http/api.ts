import { messageOf } from '../input-file.ts'
import { ProblemDocument, ProblemError, UnreachableError } from './api-errors.ts'
import type { Connection } from './connection.ts'

/** The longest that an answer may take: some acts wait for others. */
const ANSWER_WITHIN_MS = 60_000

export type QueryValue = string | number | boolean | readonly string[] | undefined
export type Query = Readonly<Record<string, QueryValue>>

export interface Sent {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  query?: Query
  /** Goes as JSON. */
  body?: unknown
  /** Goes as it is, with its `content-type` in `headers`. */
  text?: string
  headers?: Readonly<Record<string, string>>
}

export interface Answer {
  /** Undefined for one without a body. */
  body: unknown
  headers: Headers
  status: number
}

/** The HTTP API of one Jadwal. */
export class Api {
  readonly connection: Connection
  readonly #stop: AbortSignal

  constructor(connection: Connection, stop: AbortSignal) {
    this.connection = connection
    this.#stop = stop
  }

  async get(path: string, query: Query = {}): Promise<unknown> {
    return (await this.send(path, { query })).body
  }

  async post(path: string, body?: unknown, query: Query = {}): Promise<unknown> {
    return (await this.send(path, { method: 'POST', body, query })).body
  }

  /** Throws ProblemError for what the api refuses, UnreachableError when it does not answer. */
  async send(path: string, sent: Sent = {}): Promise<Answer> {
    const signal = AbortSignal.any([this.#stop, AbortSignal.timeout(ANSWER_WITHIN_MS)])
    const response = await this.#fetch(path, sent, signal)
    const text = await response.text().catch((error: unknown) => {
      throw this.#trouble(error)
    })
    const body = this.#read(response, text)
    return { body, headers: response.headers, status: response.status }
  }

  /** An answer that goes on, to be read by the caller. */
  async open(path: string, sent: Sent, signal: AbortSignal): Promise<Response> {
    const response = await this.#fetch(path, sent, AbortSignal.any([this.#stop, signal]))
    if (!response.ok || response.body === null) this.#read(response, await response.text())
    return response
  }

  async #fetch(path: string, sent: Sent, signal: AbortSignal): Promise<Response> {
    const { method = 'GET', body, text } = sent
    const { url, token } = this.connection
    const payload = body === undefined ? text : JSON.stringify(body)
    try {
      return await fetch(`${url}/api/v1${path}${queryText(sent.query ?? {})}`, {
        method,
        redirect: 'manual',
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...sent.headers,
        },
        ...(payload === undefined ? {} : { body: payload }),
        signal,
      })
    } catch (error) {
      throw this.#trouble(error)
    }
  }

  #read(response: Response, text: string): unknown {
    const { status, headers } = response
    const json = headers.get('content-type')?.includes('json') ? parseJson(text) : undefined
    if (status >= 300 && status < 400) throw this.#elsewhere(headers.get('location'))
    if (status >= 400) {
      const problem = ProblemDocument.safeParse(json)
      if (problem.success) throw new ProblemError(status, problem.data)
      throw new UnreachableError(
        `${this.connection.url} answers with status ${status}, and not as an api of Jadwal does. Is JADWAL_URL right?`,
      )
    }
    if (text !== '' && json === undefined)
      throw new UnreachableError(
        `what answers at ${this.connection.url} is no api of Jadwal. Is JADWAL_URL right?`,
      )
    return json
  }

  #elsewhere(location: string | null): UnreachableError {
    const { url } = this.connection
    const where = location === null ? 'elsewhere' : `to ${location}`
    return new UnreachableError(
      `${url} sends on ${where}. A token goes to no other address by itself: set JADWAL_URL to the right one.`,
    )
  }

  /** Ctrl-C is passed on as it is. */
  #trouble(error: unknown): unknown {
    if (this.#stop.aborted) return this.#stop.reason
    const { url } = this.connection
    if (error instanceof DOMException && error.name === 'TimeoutError')
      return new UnreachableError(
        `${url} has not answered within ${ANSWER_WITHIN_MS / 1_000} s. Is the host busy, or a proxy on the way?`,
      )
    return new UnreachableError(
      `the api at ${url} cannot be reached: ${reasonOf(error)}\nIs it running (jadwal up)? Is the address right (JADWAL_URL or --url)? "jadwal doctor" looks closer.`,
    )
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up right now',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within 10 s',
  ETIMEDOUT: 'no connection in time',
  EHOSTUNREACH: 'there is no way to the host',
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const known = REASONS[code]
  return known === undefined ? `${messageOf(cause) || code}.` : `${known} (${code}).`
}

function queryText(query: Query): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const each of typeof value === 'object' ? value : [value])
      params.append(name, String(each))
  }
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
