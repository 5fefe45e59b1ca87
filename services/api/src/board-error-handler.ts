import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import { toProblem } from './error-handler.ts'
import { Problem, problemTitle } from './problem.ts'

/** Everything else that Bull Board could do goes round the history, or costs Redis too much. */
export const refuse: RequestHandler = (req) => {
  throw refused(req)
}

function refused({ method, path }: Request): Problem {
  const acts =
    'It can retry, remove and promote a run, and pause and resume a queue of runs; for the rest there is /api/v1.'
  if (method === 'GET' || method === 'HEAD')
    return new Problem('forbidden', { detail: `The board does not show ${path} here.` })
  return new Problem('method-not-allowed', {
    detail: `The board may not do this here (${method} ${path}): it would go round the history. ${acts}`,
  })
}

/** The page shows of an answer what it has as `error` and `message`. */
export const tellPage: ErrorRequestHandler = (error, req, _res, next) => {
  const problem = toProblem(error)
  const told = problem.kind === 'method-not-allowed' ? refused(req) : problem
  const { kind, message, errors, headers, cause } = told
  next(
    new Problem(kind, {
      detail: message,
      ...(errors ? { errors } : {}),
      headers: { ...headers },
      more: { ...told.more, error: problemTitle(kind), message },
      cause,
    }),
  )
}
