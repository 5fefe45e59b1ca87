import { json, type RequestHandler } from 'express'
import { Problem } from './problem.ts'

/** Reads a body of JSON into `req.body`; `limit` is such as `1mb`. */
export function jsonBody(limit: string): RequestHandler[] {
  return [requireJson, json({ limit, type: () => true })]
}

/** Also keeps pages of other sites out: a browser sends JSON elsewhere only after asking. */
const requireJson: RequestHandler = (req, _res, next) => {
  if (req.is('application/json')) return next()
  throw new Problem('unsupported-media-type', {
    detail: 'Send the body as "Content-Type: application/json".',
  })
}
