import { expect, test } from 'vitest'
import { z } from 'zod'
import { isOwedToSecret, isSecretRef } from './secret-ref.ts'

const Payload = z.strictObject({
  url: z.url(),
  headers: z.record(z.string(), z.string()),
  hmac: z.union([z.string(), z.strictObject({ key: z.string(), header: z.string() })]),
})

function problemsBesideSecrets(payload: unknown): string[] {
  const issues = Payload.safeParse(payload).error?.issues ?? []
  return issues
    .filter((issue) => !isOwedToSecret(issue, payload))
    .map((issue) => issue.path.join('.'))
}

test('an object with nothing but a name under secret is a reference', () => {
  expect(isSecretRef({ secret: 'BILLING_KEY' })).toBe(true)
  expect(isSecretRef({ secret: 'BILLING_KEY', header: 'x' })).toBe(false)
  expect(isSecretRef({ secret: 'not a name' })).toBe(false)
  expect(isSecretRef({ secret: { secret: 'BILLING_KEY' } })).toBe(false)
  expect(isSecretRef(null)).toBe(false)
})

test('what a schema says about a value that is a reference is owed to the secret, nothing else is', () => {
  const payload = {
    url: { secret: 'URL' },
    headers: { authorization: { secret: 'TOKEN' }, accept: 1 },
    hmac: { key: { secret: 'KEY' }, header: 'x-signature' },
    more: true,
  }
  expect(problemsBesideSecrets(payload)).toEqual(['headers.accept', ''])
})

test('a missing field is a problem also beside a secret', () => {
  expect(problemsBesideSecrets({ url: { secret: 'URL' }, headers: {} })).toEqual(['hmac'])
})
