import { expect, test } from 'vitest'
import { documented } from './documented.ts'
import { setupApi } from './setup-api.ts'

test('the page has every operation, schema and problem, and asks nobody else for anything', async () => {
  await using api = await setupApi()
  const { operations, schemas } = await documented(api)
  expect(operations.length).toBeGreaterThan(60)
  const { status, headers, text } = await api.ask('/api/v1/docs')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  const heads = [...text.matchAll(/<details id="([^"]+)">\s*<summary>\s*<code>([^<]*)<\/code>/g)]
  expect(heads.map(([, id, head]) => ({ id, head })).slice(0, operations.length)).toEqual(
    expect.arrayContaining(operations),
  )
  for (const name of schemas) expect(text).toContain(`id="schema-${name}"`)
  expect(text).toContain('id="problem-precondition-failed"')
  expect(text).not.toMatch(/<script|(?:src|href)="(?:https?:)?\/\//)
})

test('nobody reads the page without a token', async () => {
  await using api = await setupApi()
  expect((await api.ask('/api/v1/docs', { headers: { authorization: '' } })).status).toBe(401)
})
