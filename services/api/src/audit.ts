import type { Request, RequestHandler, Response } from 'express'
import type { AuditTrail, Change } from './audit-trail.ts'
import { callerOf } from './caller.ts'
import { toProblem } from './error-handler.ts'
import { isOvertime } from './overtime.ts'

const CHANGE = Symbol('change')
type Locals = Record<symbol, Change | undefined>

/**
 * Adds to the entry of the audit log what the request that is answered with `res` changes: of what, how
 * it was before, how it is after. Secrets and payloads are taken out, and what is long is cut.
 */
export function noteChange(res: Response, change: Change): void {
  const locals = res.locals as Locals
  locals[CHANGE] = { ...locals[CHANGE], ...change }
}

export interface AuditedAct {
  /** Such as `schedules.pause`. */
  action: string
  /** What it is done to, as a path below `/api/v1`, where that can be told from the request. */
  subject?: (req: Request) => string | undefined
  /** Names of members, in the body and in what is noted, that hold secrets. */
  secrets?: readonly string[] | undefined
}

/**
 * A handler that does nothing without an entry in the audit log: it is written before, with the body as
 * it was parsed, and ended with the status of the answer and what `noteChange` was told.
 */
export function audited(
  trail: AuditTrail,
  { action, subject, secrets }: AuditedAct,
  handler: RequestHandler,
): RequestHandler {
  return async (req, res, next) => {
    const entry = await trail.begin({
      caller: callerOf(res),
      action,
      subject: subject?.(req),
      request: requestOf(req),
      secrets,
      address: req.ip,
      requestId: typeof req.id === 'string' ? req.id : undefined,
    })
    const end = (status: number): void => entry.end(status, (res.locals as Locals)[CHANGE])
    // What was answered for the time that it took can't be answered once more, which is an error of no meaning.
    const fail = (error: unknown): void =>
      end(isOvertime(res) ? res.statusCode : toProblem(error).status)
    const passed = { on: false }
    try {
      await handler(req, res, (error?: unknown) => {
        passed.on = true
        if (error !== undefined) fail(error)
        else onceAnswered(res, end)
        next(error)
      })
    } catch (error) {
      if (!passed.on) fail(error)
      throw error
    }
    if (passed.on) return
    if (res.writableEnded) end(res.statusCode)
    else onceAnswered(res, end)
  }
}

function onceAnswered(res: Response, end: (status: number) => void): void {
  res.once('close', () => end(res.statusCode))
}

/** The body, and the query where there is one. */
function requestOf({ body, query }: Request): unknown {
  const hasQuery = Object.keys(query).length > 0
  return hasQuery ? { query, ...(body === undefined ? {} : { body: body as unknown }) } : body
}
