import { expect, test } from 'vitest'
import { withSecrets } from './payload-secrets.ts'

const SECRETS = new Map([['KEY', 'hunter22']])

test('each reference is replaced in a copy, and everything else is as it was', () => {
  const payload = { a: [{ secret: 'KEY' }, 1, null], b: { secret: 'KEY', more: true }, c: 'secret' }
  const used = new Set<string>()
  expect(withSecrets(payload, SECRETS, used)).toEqual({
    a: ['hunter22', 1, null],
    b: { secret: 'KEY', more: true },
    c: 'secret',
  })
  expect([...used]).toEqual(['hunter22'])
  expect(payload.a[0]).toEqual({ secret: 'KEY' })
})

test('a secret that is not there is named, and the run cannot be helped by trying again', () => {
  expect(() => withSecrets([{ secret: 'NOPE' }], SECRETS, new Set())).toThrow(
    expect.objectContaining({
      name: 'PermanentError',
      message: expect.stringContaining('JADWAL_SECRET_NOPE'),
    }),
  )
})
