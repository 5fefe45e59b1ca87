import { type Role, systemClock } from '@jadwal/domain'
import { createLogger } from '@jadwal/runtime'
import type { ApiDeps } from '../src/api-deps.ts'
import { apiEndpoints } from '../src/api-endpoints.ts'
import { createApp } from '../src/app.ts'
import type { PlacedOperation } from '../src/endpoints.ts'
import { pageEndpoints } from '../src/page-endpoints.ts'

interface Layer {
  route?: { path: string }
  handle: { stack?: Layer[] }
}

export interface ListedOperation {
  method: string
  /** Parameters are filled in. */
  path: string
  role: Role
}

const DEPS: Partial<ApiDeps> = {
  clock: systemClock,
  maxPayloadBytes: 1_024,
  log: createLogger('api', 'silent'),
  ready: () => Promise.resolve([]),
  board: () => (_req, _res, next) => next(),
}
const ADMISSION = {
  adminToken: 'token',
  viewerToken: undefined,
  metricsToken: undefined,
  trustedProxies: [],
  providerConfig: undefined,
}

/** The paths of every route that the api has, parameters filled in; a new one is there by itself. */
export function listRoutes(): string[] {
  const app = createApp(DEPS as ApiDeps, ADMISSION)
  const { stack } = app.router as unknown as { stack: Layer[] }
  return stack.flatMap(pathsOf).map(filledIn)
}

/** Every operation of the api and of the pages beside it; a new one is there by itself. */
export function listOperations(): ListedOperation[] {
  const pages = pageEndpoints(DEPS as ApiDeps, ADMISSION).operations
  const api = apiEndpoints(DEPS as ApiDeps).operations
  return [...listed(pages, ''), ...listed(api, '/api/v1')]
}

function listed(operations: readonly PlacedOperation[], below: string): ListedOperation[] {
  return operations.map(({ method, path, role }) => ({
    method: method.toUpperCase(),
    path: below + filledIn(path),
    role,
  }))
}

function filledIn(path: string): string {
  return path.replaceAll(/:\w+/g, 'some-name')
}

function pathsOf({ route, handle }: Layer): string[] {
  if (route) return [route.path]
  const paths = (handle.stack ?? []).flatMap(pathsOf)
  // Where a router is mounted, it does not tell.
  return paths.includes('/runs') ? paths.map((path) => `/api/v1${path}`) : paths
}
