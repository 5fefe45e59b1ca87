import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setupApi, type TestApi } from './setup-api.ts'

let api: TestApi

beforeAll(async () => {
  api = await setupApi()
})
afterAll(async () => api[Symbol.asyncDispose]())

test('openapi.json is a valid document of OpenAPI 3.1', async () => {
  const { status, body } = await api.ask('/api/v1/openapi.json')
  expect(status).toBe(200)
  expect(body.openapi).toBe('3.1.0')
  const { valid, errors } = await new Validator().validate(body)
  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
})
