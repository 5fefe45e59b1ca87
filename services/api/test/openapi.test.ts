import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setupApi, type TestApi } from './setup-api.ts'

let api: TestApi

beforeAll(async () => {
  api = await setupApi()
})
afterAll(async () => api[Symbol.asyncDispose]())

interface Said {
  operationId: string
  summary: string
  'x-jadwal-role': string
  responses: Record<string, { content?: Record<string, { example?: unknown }> }>
  requestBody?: { content: Record<string, { example?: unknown }> }
}

/** Every operation of the document, by its id. */
function operationsOf(document: { paths: Record<string, Record<string, Said>> }): Said[] {
  return Object.values(document.paths).flatMap((path) => Object.values(path))
}

test('openapi.json is a valid document of OpenAPI 3.1', async () => {
  const { status, body } = await api.ask('/api/v1/openapi.json')
  expect(status).toBe(200)
  expect(body.openapi).toBe('3.1.0')
  const { valid, errors } = await new Validator().validate(body)
  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
})

test('every operation has an id of its own, a role, and an example of each body', async () => {
  const { body } = await api.ask('/api/v1/openapi.json')
  const operations = operationsOf(body)
  const ids = operations.map(({ operationId }) => operationId)
  expect(ids).toEqual([...new Set(ids)])
  for (const said of operations) {
    expect(said['x-jadwal-role'], said.operationId).toMatch(/^(viewer|operator|admin)$/)
    const good = Object.entries(said.responses).filter(([status]) => Number(status) < 400)
    expect(good, `${said.operationId} says nothing of its answers`).not.toEqual([])
    const bodies = [...good.map(([, answer]) => answer), said.requestBody].flatMap((each) =>
      Object.values(each?.content ?? {}).slice(0, 1),
    )
    for (const media of bodies)
      expect(media.example, `${said.operationId} has no example`).toBeDefined()
  }
})
