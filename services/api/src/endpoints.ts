import { Router } from 'express'
import { requireRole } from './caller.ts'
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
 * who does not have its role.
 */
export class Endpoints {
  readonly router = Router()
  readonly operations: PlacedOperation[] = []

  /** Serves one path with one operation a method. Other methods are told which there are. */
  add(path: string, operations: Partial<Record<Method, Operation>>): void {
    const route = this.router.route(path)
    const allowed: string[] = []
    for (const [name, operation] of Object.entries(operations)) {
      const method = name as Method
      route[method](requireRole(operation.role), operation.handle)
      this.operations.push({ ...operation, method, path })
      allowed.push(method.toUpperCase(), ...(method === 'get' ? ['HEAD'] : []))
    }
    route.all((req) => {
      throw methodNotAllowed(req.method, allowed.join(', '))
    })
  }
}

export function methodNotAllowed(method: string, allow: string, hint = ''): Problem {
  return new Problem('method-not-allowed', {
    detail: `${method} is not possible here, only ${allow}.${hint}`,
    headers: { Allow: allow },
  })
}
