import { createBullBoard } from '@bull-board/api'
import { isAtLeast, newRunId, type Role } from '@jadwal/domain'
import { publishCatalogue } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BOARD_ACTS } from '../src/board-acts.ts'
import { BoardAdapter } from '../src/board-adapter.ts'
import { BOARD_READS } from '../src/board-router.ts'
import { EMAIL_JOB } from './job-catalogue.ts'
import { bearer, type BrowserSession, makeToken, signIn } from './setup-access.ts'
import { setupApi, type TestApi } from './setup-api.ts'

const ROLES = ['viewer', 'operator', 'admin'] as const
const ID = newRunId(Date.parse('2026-09-01'), new Uint8Array(10))

let api: TestApi
const ways: { role: Role; way: string; headers: Record<string, string>; mayChange: boolean }[] = []

beforeAll(async () => {
  api = await setupApi()
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
  await eventually(async () => {
    const { body } = await api.ask('/queues/api/queues')
    if (body.queues.length < 3) throw new Error('the board does not have the queues yet')
  })
  for (const role of ROLES) {
    const { token } = await makeToken(api, { name: `the-${role}`, role })
    const session = await signIn(api, token)
    const other = await signIn(api, token)
    addWays(role, { token, session, other })
  }
})
afterAll(async () => api[Symbol.asyncDispose]())

function addWays(
  role: Role,
  { token, session, other }: { token: string; session: BrowserSession; other: BrowserSession },
): void {
  const cookie = { authorization: '', cookie: session.cookie }
  const as = (way: string, headers: Record<string, string>, mayChange: boolean): void =>
    void ways.push({ role, way, headers, mayChange })
  as('token', bearer(token), true)
  as('session of the page', { ...cookie, 'x-xsrf-token': session.csrfToken }, true)
  as('session alone', cookie, false)
  as('session of another page', { ...cookie, 'x-xsrf-token': other.csrfToken }, false)
}

/** Every route that the installed Bull Board has, and what Jadwal makes of it. */
function boardRoutes() {
  const adapter = new BoardAdapter()
  createBullBoard({ queues: [], serverAdapter: adapter })
  const { routes } = adapter
  const served = routes.flatMap(({ method, route }) =>
    [method].flat().flatMap((one) => [route].flat().map((path) => placed(one, path, '/queues'))),
  )
  return [...served, ...adapter.pages.map((path) => placed('get', path, '/queues'))]
}

function placed(method: string, route: string, below: string) {
  const path = route
    .replace(':queueName', EMAIL_JOB.queue)
    .replace(':jobId', ID)
    .replaceAll(/:\w+/g, 'failed')
  const isReading = method === 'get'
  const isOpen = isReading
    ? !route.startsWith('/api/') || BOARD_READS.includes(route)
    : BOARD_ACTS.includes(route)
  return { method: method.toUpperCase(), path: below + path, isReading, isOpen }
}

test('every route of Bull Board is open to whom it is for, in the way in which it is, and to nobody else', async () => {
  const routes = boardRoutes()
  expect(routes.filter(({ isOpen, isReading }) => isOpen && isReading).length).toBeGreaterThan(4)
  expect(routes.filter(({ isOpen, isReading }) => isOpen && !isReading)).toHaveLength(5)
  expect(routes.filter(({ isOpen }) => !isOpen).length).toBeGreaterThan(20)
  for (const { method, path, isReading, isOpen } of routes) {
    const ask = async (headers: Record<string, string>): Promise<number> =>
      (await api.ask(path, { method, headers })).status
    expect([method, path, await ask({ authorization: '' })]).toEqual([method, path, 401])
    for (const { role, way, headers, mayChange } of ways) {
      const said = { method, path, role, way, status: await ask(headers) }
      const isFor = isReading || (mayChange && isAtLeast(role, 'operator'))
      // Of an act the run is not there, which only who may act is told.
      const closed = isOpen ? [403] : [403, 404, 405]
      const expected = isOpen && isFor ? [200, 404] : closed
      expect([said, expected.includes(said.status)]).toEqual([said, true])
    }
  }
}, 180_000)
