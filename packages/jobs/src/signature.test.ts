import { expect, test } from 'vitest'
import { signature } from './signature.ts'

test('a signature is the HMAC-SHA256 of time and body', () => {
  // printf '1788256800.{"a":1}' | openssl dgst -sha256 -hmac 'key'
  expect(signature('key', '{"a":1}', new Date(1_788_256_800_999))).toBe(
    't=1788256800,v1=f295c5d1d21fc139c1ea1fce330874c5397e5f77a4f10cd43253c7dd32c36923',
  )
})
