import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setupApi, type TestApi } from './setup-api.ts'

describe('what is not right', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await setupApi()
  })
  afterAll(async () => api[Symbol.asyncDispose]())

  test.each([
    ['state=lost', 'state'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['from=yesterday', 'from'],
    ['label=billing', 'label'],
    ['label=team:a&label=team:b', 'label'],
    ['cursor=nonsense', 'cursor'],
    ['parent=nobody', 'parent'],
    ['job=a&job=b', 'job'],
    ['job=%00', 'job'],
    ['q=%00', 'q'],
    ['sort=asc', 'sort'],
  ])('the query %s is refused and its field named', async (query, field) => {
    const refused = await api.ask(`/api/v1/runs?${query}`)
    expect(refused.status).toBe(400)
    expect(refused.body.errors[0].field).toBe(field)
  })

  test.each([
    ['/nowhere', 'GET', 404],
    ['/api/v1/nowhere', 'GET', 404],
    ['/api/v1/nothing', 'GET', 404],
    ['/api/v1/runs', 'DELETE', 405],
    ['/api/v1/workers', 'POST', 405],
    ['/', 'POST', 405],
    ['/api/v1/%E0%A4%A', 'GET', 404],
    ['/api/v1/runs/%E0%A4%A', 'GET', 400],
  ])('%s answers %s with %i and a problem document', async (path, method, status) => {
    const answer = await api.ask(path, { method })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toContain('application/problem+json')
    expect(answer.body).toMatchObject({ status, requestId: expect.any(String) })
    expect(answer.headers.has('allow')).toBe(status === 405)
  })

  test('a request keeps the id that its caller gave it, when it is fit for a log', async () => {
    expect(await requestIdFor(api, 'abc-123')).toBe('abc-123')
    expect(await requestIdFor(api, 'a b"c')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test.each(['0190a1b2-0000-7000-8000-000000000000', 'nonsense'])(
    'the id %s is of no run',
    async (id) => {
      const missing = await api.ask(`/api/v1/runs/${id}`)
      expect(missing.status).toBe(404)
      expect(missing.body.title).toBe('Not found')
    },
  )
})

async function requestIdFor(api: TestApi, id: string): Promise<string | null> {
  const { headers } = await api.ask('/healthz', { headers: { 'x-request-id': id } })
  return headers.get('x-request-id')
}
