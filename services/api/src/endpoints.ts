import { type RequestHandler, Router } from 'express'
import { audited } from './audit.ts'
import type { AuditTrail } from './audit-trail.ts'
import { auditAction, auditSubject } from './audit-words.ts'
import { requireRole } from './caller.ts'
import { checkQuery } from './check-query.ts'
import type { Method, Operation } from './operation.ts'
import { Problem } from './problem.ts'

/** An operation, and where it is. */
export interface PlacedOperation extends Operation {
  method: Method
  /** With `:name` for what varies. */
  path: string
}

/**
 * Endpoints under one path: served by `router`, told of by `operations`. Each operation is closed to
 * who does not have its role, and leaves an entry in the audit log if it changes something.
 */
export class Endpoints {
  readonly router = Router()
  readonly operations: PlacedOperation[] = []
  readonly #trail: AuditTrail

  constructor(trail: AuditTrail) {
    this.#trail = trail
  }

  /** Serves one path with one operation a method. Other methods are told which there are. */
  add(path: string, operations: Partial<Record<Method, Operation>>): void {
    const route = this.router.route(path)
    const allowed: string[] = []
    for (const [name, operation] of Object.entries(operations)) {
      const method = name as Method
      const placed = { ...operation, method, path }
      const { role, doc } = operation
      route[method](requireRole(role), checkQuery(doc.query), this.#handlers(placed))
      this.operations.push(placed)
      allowed.push(method.toUpperCase(), ...(method === 'get' ? ['HEAD'] : []))
    }
    route.all((req) => {
      throw methodNotAllowed(req.method, allowed.join(', '))
    })
  }

  #handlers(operation: PlacedOperation): RequestHandler[] {
    const handlers = [operation.handle].flat()
    const last = handlers.pop()
    const action = auditAction(operation)
    if (!last || action === undefined) return [...handlers, ...(last ? [last] : [])]
    const subject = auditSubject(operation)
    return [
      ...handlers,
      audited(this.#trail, { action, subject, secrets: operation.secrets }, last),
    ]
  }
}

function methodNotAllowed(method: string, allow: string, hint = ''): Problem {
  return new Problem('method-not-allowed', {
    detail: `${method} is not possible here, only ${allow}.${hint}`,
    headers: { Allow: allow },
  })
}
