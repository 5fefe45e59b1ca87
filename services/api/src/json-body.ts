import { json, type Request, type RequestHandler } from 'express'
import { Problem } from './problem.ts'

const MIB = 1024 * 1024

/** The largest body that carries neither payloads nor schedules. */
export const SHORT_BODY = '64kb'

/** The largest body, in bytes, that carries one payload: JSON may be written wider than it is counted. */
export function bodyLimit(maxPayloadBytes: number): number {
  return Math.max(MIB, 2 * maxPayloadBytes)
}

/** Reads a body of JSON into `req.body`; `limit` is in bytes, or such as `1mb`. */
export function jsonBody(limit: string | number): RequestHandler[] {
  return [requireJson, json({ limit, type: () => true })]
}

/** Likewise, for what may also be asked without a body; then `req.body` is undefined. */
export function optionalJsonBody(limit: string | number): RequestHandler[] {
  const [check = requireJson, ...parse] = jsonBody(limit)
  return [(req, res, next) => (hasBody(req) ? check(req, res, next) : next()), ...parse]
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Also keeps pages of other sites out: a browser sends JSON elsewhere only after asking. */
const requireJson: RequestHandler = (req, _res, next) => {
  if (req.is('application/json')) return next()
  throw new Problem('unsupported-media-type', {
    detail: 'Send the body as "Content-Type: application/json".',
  })
}
