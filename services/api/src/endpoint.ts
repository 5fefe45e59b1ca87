import type { RequestHandler, Router } from 'express'
import { Problem } from './problem.ts'

type Method = 'get' | 'post' | 'put' | 'delete'

/** Serves one path with one handler a method. Other methods are told which there are. */
export function endpoint(
  router: Router,
  path: string,
  handlers: Partial<Record<Method, RequestHandler | RequestHandler[]>>,
): void {
  const route = router.route(path)
  for (const [method, handler] of Object.entries(handlers)) route[method as Method](handler)
  const allowed = Object.keys(handlers).map((method) => method.toUpperCase())
  if (allowed.includes('GET')) allowed.push('HEAD')
  route.all((req) => {
    throw methodNotAllowed(req.method, allowed.join(', '))
  })
}

export function methodNotAllowed(method: string, allow: string, hint = ''): Problem {
  return new Problem('method-not-allowed', {
    detail: `${method} is not possible here, only ${allow}.${hint}`,
    headers: { Allow: allow },
  })
}
