import { once } from 'node:events'
import { type IncomingMessage, request as nodeRequest } from 'node:http'
import { createBullBoard } from '@bull-board/api'
import { ExpressAdapter } from '@bull-board/express'
import { isAtLeast, type Role } from '@jadwal/domain'
import { newToken } from '@jadwal/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bearer, makeToken, signIn, type BrowserSession } from './setup-access.ts'
import { type Answer, setupApi, type TestApi } from './setup-api.ts'
import { type ListedOperation, listOperations } from './list-routes.ts'

/** Who asks: a role, or nobody. */
type Headers = Record<string, string>
const NOBODY = { authorization: '' }

const VIEWER_TOKEN = newToken()

let api: TestApi
const tokens = new Map<Role, string>()
const sessions = new Map<Role, BrowserSession>()
const dead: Headers[] = []

beforeAll(async () => {
  api = await setupApi({ JADWAL_VIEWER_TOKEN: VIEWER_TOKEN })
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    const { token } = await makeToken(api, { name: `the-${role}`, role })
    tokens.set(role, token)
    sessions.set(role, await signIn(api, token))
  }
  const revoked = await makeToken(api, { name: 'revoked', role: 'admin' })
  const session = await signIn(api, revoked.token)
  await api.ask(`/api/v1/tokens/${revoked.id}`, { method: 'DELETE' })
  dead.push(bearer(revoked.token), { ...NOBODY, cookie: session.cookie })
  dead.push(bearer('wrong'), bearer(`jdw_${'x'.repeat(43)}`), {
    authorization: 'Basic YWRtaW46YWRtaW4=',
  })
})
afterAll(async () => api[Symbol.asyncDispose]())

/** A body that no operation takes, so that nothing is changed on the way. */
const BODY = { body: '{"no such":"field"', headers: { 'content-type': 'application/json' } }

async function statusOf(method: string, path: string, headers: Headers): Promise<number> {
  return (await answerTo(method, path, headers)).status
}

async function answerTo(method: string, path: string, headers: Headers): Promise<Answer> {
  const isBodied = !['GET', 'HEAD', 'OPTIONS'].includes(method)
  const sent = isBodied ? BODY : { headers: {} }
  const init = { method, ...sent, headers: { ...sent.headers, ...headers } }
  return await api.ask(path, init)
}

const isLetIn = (status: number): boolean => ![401, 403, 429].includes(status)

const OPERATIONS = listOperations()

describe('every operation', () => {
  test('is among those that are walked', () => {
    const names = OPERATIONS.map(({ method, path }) => `${method} ${path}`)
    for (const name of [
      'GET /',
      'GET /metrics',
      'GET /api/v1/audit',
      'POST /api/v1/tokens',
      'POST /api/v1/schedules/some-name/pause',
      'DELETE /api/v1/schedules/some-name',
    ])
      expect(names).toContain(name)
  })

  test('is closed to who has no token, or one that is good no longer', async () => {
    await Promise.all(
      OPERATIONS.map(async ({ method, path }) => {
        expect([method, path, await statusOf(method, path, NOBODY)]).toEqual([method, path, 401])
        for (const headers of dead) {
          const { status, body } = await answerTo(method, path, headers)
          // Who sends many wrong tokens is told to wait; of one that is not known a slow Postgres can't tell.
          const isUntold = body?.type === 'urn:jadwal:problem:tokens-unavailable'
          const isClosed = [401, 429].includes(status) || isUntold
          expect([method, path, status, isClosed]).toEqual([method, path, status, true])
        }
      }),
    )
  }, 120_000)

  test('is open to its role and those above, by token and by session, and to no other', async () => {
    await Promise.all(OPERATIONS.filter((each) => !isStream(each)).map(askInEachRole))
  }, 120_000)

  test('changes nothing for a viewer, but what is asked by POST and only reads', () => {
    const open = OPERATIONS.filter(({ method, role }) => method !== 'GET' && role === 'viewer')
    expect(open.map(({ path }) => path).toSorted()).toEqual(['/api/v1/cron/preview'])
  })
})

async function askInEachRole(operation: ListedOperation): Promise<void> {
  const { method, path } = operation
  const isReading = method === 'GET'
  for (const [role, token] of tokens) {
    const session = sessions.get(role)
    const cookie = { ...NOBODY, cookie: session?.cookie ?? '' }
    const ways: [string, Headers, boolean][] = [
      ['token', bearer(token), true],
      ['session of a page', { ...cookie, 'x-xsrf-token': session?.csrfToken ?? '' }, true],
      ['session alone', cookie, isReading],
      ['session of another page', { ...cookie, 'x-xsrf-token': 'x' }, isReading],
    ]
    if (role === 'viewer') ways.push(['token of the environment', bearer(VIEWER_TOKEN), true])
    for (const [way, headers, isWay] of ways) {
      const said = { ...operation, as: role, way, status: await statusOf(method, path, headers) }
      const expected = isWay && isAtLeast(role, operation.role)
      expect([said, isLetIn(said.status)]).toEqual([said, expected])
    }
  }
}

/** It is answered for as long as one listens. */
function isStream({ path }: ListedOperation): boolean {
  return path === '/api/v1/events'
}

const ODD = [
  '/queues',
  '/queues/',
  '/queues/api/queues',
  '/QUEUES/api/queues',
  '/queues/static/favicon-32x32.png',
  '/queues/static/../api/queues',
  '/queues/%61pi/queues',
  '/api/v1',
  '/api/v1/',
  '/api/v1//runs',
  '/api//v1/runs',
  '//api/v1/runs',
  '/API/V1/runs',
  '/api/v1/RUNS',
  '/api/v1/runs/',
  '/api/v1/%72uns',
  '/%61pi/v1/runs',
  '/api/v1/%2e%2e/v1/runs',
  '/api/v1/./runs',
  '/api/v1;x/runs',
  '/api/v1/runs?token=x',
  '/api/v1/docs',
  '/api/v1/openapi.json',
  '/api/v1/nowhere',
  '/metrics/',
  '/healthz/../metrics',
  '/login/../metrics',
  '/login/oidc',
  '/login/oidc/callback',
  '/nowhere',
  '/favicon.ico',
]

test.each(ODD)('%s is closed, however it is asked for', async (path) => {
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'])
    expect([method, await rawStatus(method, path)]).toEqual([method, 401])
})

/** Every route that Bull Board has, of its own word. */
function boardRoutes(): { method: string; path: string }[] {
  const server = new ExpressAdapter()
  createBullBoard({ queues: [], serverAdapter: server })
  const { router } = server.getRouter() as { router: BoardLayer }
  return routesIn(router).flatMap(({ path, methods }) =>
    [path].flat().flatMap((one) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase(),
        path: `/queues${one.replaceAll(/:\w+/g, 'emails')}`,
      })),
    ),
  )
}

interface BoardRoute {
  path: string | string[]
  methods: Record<string, boolean>
}
interface BoardLayer {
  /** Of a router it is a function. */
  route?: BoardRoute | (() => unknown)
  handle?: BoardLayer
  stack?: BoardLayer[]
}

function routesIn({ route, handle, stack = [] }: BoardLayer): BoardRoute[] {
  if (typeof route === 'object') return [route]
  return [...(handle ? routesIn(handle) : []), ...stack.flatMap(routesIn)]
}

test('Bull Board is closed without a token, and a viewer changes nothing in it', async () => {
  const routes = boardRoutes()
  expect(routes.filter(({ method }) => method !== 'GET').length).toBeGreaterThan(10)
  const viewer = sessions.get('viewer')
  const page = { ...NOBODY, cookie: viewer?.cookie ?? '', 'x-xsrf-token': viewer?.csrfToken ?? '' }
  for (const { method, path } of routes) {
    expect([method, path, await statusOf(method, path, NOBODY)]).toEqual([method, path, 401])
    if (method === 'GET') continue
    for (const odd of [path, path.replace('/queues', '/QUEUES'), path.replace('/api', '//api')])
      for (const headers of [bearer(tokens.get('viewer') ?? ''), page]) {
        const status = await statusOf(method, odd, headers)
        expect([method, odd, [403, 404, 405].includes(status)]).toEqual([method, odd, true])
      }
  }
})

/** As it is written: fetch would put the path in order first. */
async function rawStatus(method: string, path: string): Promise<number> {
  const { hostname, port } = new URL(api.url)
  const request = nodeRequest({ hostname, port, path, method })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode ?? 0
}
