import { json, type Request, type RequestHandler } from 'express'
import { Problem } from './problem.ts'

/** Reads a body of JSON into `req.body`; `limit` is such as `1mb`. */
export function jsonBody(limit: string): RequestHandler[] {
  return [requireJson, json({ limit, type: () => true })]
}

/** Likewise, for what may also be asked without a body; then `req.body` is undefined. */
export function optionalJsonBody(limit: string): RequestHandler[] {
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
