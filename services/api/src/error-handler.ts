import { BadCursorError } from '@jadwal/db'
import {
  IdempotencyConflictError,
  MissingKeyError,
  PayloadTooLargeError,
  RedisUnavailableError,
  TryLaterError,
} from '@jadwal/queue'
import { type Logger, rateLimitedWarnings } from '@jadwal/runtime'
import type { ErrorRequestHandler, Response } from 'express'
import { redisAway } from './ask.ts'
import { badTextProblem, isBadText } from './bad-text.ts'
import { isOvertime } from './overtime.ts'
import { fieldProblem, Problem } from './problem.ts'

/** Answers every error with a problem document; what nobody foresaw goes to the log. */
export function errorHandler(log: Logger): ErrorRequestHandler {
  const unserved = rateLimitedWarnings(log, 'requests can not be served for now')
  return (error: unknown, req, res, next) => {
    if (isOvertime(res)) return
    const problem = isBadText(error) ? badTextProblem(req) : toProblem(error)
    const requestId = typeof req.id === 'string' ? req.id : ''
    if (problem.kind === 'internal') log.error({ err: error, requestId }, 'request failed')
    if (problem.status === 503) unserved({ problem: problem.kind, because: reasonOf(problem) })
    if (res.headersSent) next(error)
    else sendProblem(res, problem, requestId)
  }
}

/** Answers with a problem document. */
export function sendProblem(res: Response, problem: Problem, requestId: string): void {
  res
    .status(problem.status)
    .set(problem.headers)
    .type('application/problem+json')
    .send(JSON.stringify(problem.document(requestId)))
}

/** Every way in which a request can fail, translated. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof PayloadTooLargeError) {
    return fieldProblem(
      'payload-too-large',
      placeOf('payload', error.index),
      `has ${error.bytes} bytes, at most ${error.limitBytes} are allowed: send a reference to what is large, or raise JADWAL_MAX_PAYLOAD_BYTES of the api`,
    )
  }
  if (error instanceof IdempotencyConflictError) return conflict(error)
  if (error instanceof MissingKeyError)
    return new Problem('no-encryption-key', { detail: `Nothing was done: ${error.message}.` })
  if (error instanceof TryLaterError) {
    const headers = { 'Retry-After': '10' }
    return new Problem('try-later', { detail: error.message, headers, cause: error })
  }
  if (error instanceof BadCursorError) return fieldProblem('bad-request', 'cursor', error.message)
  if (error instanceof RedisUnavailableError) return redisAway(error)
  if (isBadText(error)) return badTextProblem({})
  return (
    httpProblem(error) ??
    new Problem('internal', { detail: 'The log has more under the request id.', cause: error })
  )
}

/** What is away is known by its message; whose code asked for it is of no use. */
function reasonOf({ cause, message }: Problem): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

/** The field of a run, which may be one of many. */
function placeOf(field: string, index: number | undefined): string {
  return index === undefined ? field : `runs[${index}].${field}`
}

function conflict(error: IdempotencyConflictError): Problem {
  const { field, value, index, runId, problem: message, remedy } = error
  const place = placeOf(field, index)
  return new Problem('idempotency-conflict', {
    detail: `${place} ${message}: ${remedy}.`,
    errors: [{ field: place, message, value }],
    more: { runId },
  })
}

/** What Express and its body parsers throw: errors with a status. */
function httpProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number')
    return undefined
  const detail = error.message
  if ('type' in error && error.type === 'entity.parse.failed')
    return new Problem('malformed-json', { detail, cause: error })
  if (error.status === 413) {
    const limit = 'limit' in error ? ` At most ${String(error.limit)} bytes are allowed here.` : ''
    return new Problem('payload-too-large', { detail: `${detail}.${limit}`, cause: error })
  }
  if (error.status === 415) return new Problem('unsupported-media-type', { detail, cause: error })
  if (error.status === 404) return new Problem('not-found', { detail, cause: error })
  if (error.status >= 400 && error.status < 500)
    return new Problem('bad-request', { detail, cause: error })
  return undefined
}
