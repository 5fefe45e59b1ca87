import { systemClock } from '@jadwal/domain'
import { createLogger } from '@jadwal/runtime'
import type { ApiDeps } from '../src/api-deps.ts'
import { createApp } from '../src/app.ts'

interface Layer {
  route?: { path: string }
  handle: { stack?: Layer[] }
}

/** The paths of every route that the api has, parameters filled in; a new one is there by itself. */
export function listRoutes(): string[] {
  const deps: Partial<ApiDeps> = {
    clock: systemClock,
    maxPayloadBytes: 1_024,
    log: createLogger('api', 'silent'),
    ready: () => Promise.resolve([]),
    board: () => (_req, _res, next) => next(),
  }
  const app = createApp(deps as ApiDeps, {
    adminToken: 'token',
    metricsToken: undefined,
    trustedProxies: [],
    providerConfig: undefined,
  })
  const { stack } = app.router as unknown as { stack: Layer[] }
  return stack.flatMap(pathsOf).map((path) => path.replaceAll(/:\w+/g, 'some-name'))
}

function pathsOf({ route, handle }: Layer): string[] {
  if (route) return [route.path]
  const paths = (handle.stack ?? []).flatMap(pathsOf)
  // Where a router is mounted, it does not tell.
  return paths.includes('/runs') ? paths.map((path) => `/api/v1${path}`) : paths
}
