import { randomUUID } from 'node:crypto'
import { type Logger, rateLimitedWarnings } from '@jadwal/runtime'
import type { Request, RequestHandler, Response } from 'express'
import { pinoHttp } from 'pino-http'

const HEADER = 'X-Request-Id'
const QUIET = /^\/(healthz|readyz|metrics|queues)(\/|\?|$)/

/**
 * Gives each request an id, its caller's own when it is fit for a log, and logs how it was answered. While
 * Redis or Postgres is away most are answered alike, with 503: they share one line each 10 s.
 */
export function requestLog(log: Logger): RequestHandler {
  const unavailable = rateLimitedWarnings(log, 'request answered with an error')
  return pinoHttp<Request, Response>({
    logger: log,
    genReqId: (req, res) => {
      const given = req.headers[HEADER.toLowerCase()]
      const id = typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
      res.setHeader(HEADER, id)
      return id
    },
    customLogLevel: (req, res, error) => {
      if (res.statusCode === 503) {
        unavailable({ req: shown(req), res: { status: 503 } })
        return 'silent'
      }
      if (error || res.statusCode >= 500) return 'error'
      if (req.method === 'GET' && res.statusCode < 400)
        return QUIET.test(req.url ?? '') ? 'trace' : 'debug'
      return 'info'
    },
    serializers: {
      req: (req: { id: string; method: string; url: string; remoteAddress: string }) => ({
        id: req.id,
        method: req.method,
        url: withoutSecrets(req.url),
        from: req.remoteAddress,
      }),
      res: (res: { statusCode: number }) => ({ status: res.statusCode }),
      // What went wrong is logged where it is known; pino-http only has a stack of its own to tell.
      err: () => undefined,
    },
    customSuccessMessage: () => 'request answered',
    customErrorMessage: () => 'request answered with an error',
  })
}

function shown({ id, method, originalUrl, socket }: Request): object {
  return { id, method, url: withoutSecrets(originalUrl), from: socket.remoteAddress }
}

/** What a provider of sign-ins hands over, or somebody puts a token into, is not for the log. */
function withoutSecrets(url: string): string {
  const [path = '', query] = url.split('?', 2)
  if (query === undefined) return url
  if (path.includes('/login')) return `${path}?…`
  return `${path}?${query.replaceAll(/((?:^|&)(?:[^=&]*(?:token|secret|password)|code)=)[^&]*/gi, '$1…')}`
}
