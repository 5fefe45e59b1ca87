import { randomBytes } from 'node:crypto'
import { isEnvelope } from '@jadwal/domain'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEncryptionKeys } from './encryption-keys.ts'
import { openedValue } from './opened-value.ts'
import { PayloadCipher, type Sealed } from './payload-cipher.ts'

const key = (id: string) => ({ id, secret: randomBytes(32) })
const [k1, k2] = [key('k1'), key('k2')]
const about: Sealed = {
  what: 'payload',
  job: 'pay',
  id: '01a22d52-9ea9-7878-8f44-2bab5b1c5690',
}
const cipher = new PayloadCipher([k2, k1])

test('whatever is sealed is opened as it was, and shows nothing of itself', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const envelope = cipher.seal(text, about)
      expect(isEnvelope(envelope)).toBe(true)
      expect(cipher.open(envelope, about)).toBe(text)
      expect(text.length <= 8 || !JSON.stringify(envelope).includes(text)).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('an envelope that was changed anywhere does not open', () => {
  const envelope = cipher.seal('{"pin":"1234"}', about)
  const [version, id, nonce = '', sealed = ''] = envelope.$encrypted.split('.')
  fc.assert(
    fc.property(
      fc.nat(nonce.length + sealed.length - 1),
      fc.integer({ min: 1, max: 63 }),
      (at, by) => {
        const bytes = Buffer.concat([
          Buffer.from(nonce, 'base64url'),
          Buffer.from(sealed, 'base64url'),
        ])
        const position = at % bytes.length
        bytes[position] = (bytes[position] ?? 0) ^ by
        const parts = [bytes.subarray(0, 12), bytes.subarray(12)].map((part) =>
          part.toString('base64url'),
        )
        const changed = { $encrypted: [version, id, ...parts].join('.') }
        expect(() => cipher.open(changed, about)).toThrow('was changed')
      },
    ),
    { numRuns: 100 },
  )
})

test.each([
  ['of another run', { id: '01a22d52-9ea9-7878-8f44-2bab5b1c5691' }],
  ['of another job', { job: 'paid' }],
  ['that is a result', { what: 'result' }],
] as const)('an envelope can not take the place of one %s', (_what, other) => {
  const envelope = cipher.seal('1', about)
  expect(() => cipher.open(envelope, { ...about, ...other })).toThrow('belongs to another run')
})

test('the first key encrypts, each decrypts, and a key that is gone is named', () => {
  const old = new PayloadCipher([k1]).seal('"old"', about)
  expect(cipher.open(old, about)).toBe('"old"')
  const fresh = cipher.seal('"new"', about)
  expect(fresh.$encrypted).toMatch(/^1\.k2\./)
  const without = new PayloadCipher([k1])
  expect(() => without.open(fresh, about)).toThrow(/key k2.*not among/)
  expect(openedValue(fresh, about, without)).toBe('[encrypted with key k2, which is not here]')
  expect(openedValue(fresh, about, undefined)).toBe('[encrypted]')
  expect(openedValue(fresh, about, new PayloadCipher([key('k2')]))).toMatch(/can not be read/)
  expect(openedValue({ a: 1 }, about, undefined)).toEqual({ a: 1 })
})

function hash(...keys: { id: string; secret: Buffer }[]): string {
  return new PayloadCipher(keys).hash('pay', { a: 1, b: 2 })
}

test('a hash tells equal payloads, also while keys are rotated, and only to who has the oldest', () => {
  expect(hash(k1)).toBe(hash(k2, k1))
  expect(hash(k1, k2)).toBe(hash(k2, k1))
  expect(new PayloadCipher([k1]).hash('pay', { b: 2, a: 1 })).toBe(hash(k1))
  expect(hash(k2)).not.toBe(hash(k1))
  expect(hash(key('k10'), { ...key('k9'), secret: k1.secret })).toBe(hash(k1))
})

test('keys are read, and what is wrong is told without them', () => {
  const secret = randomBytes(32).toString('base64')
  expect(readEncryptionKeys(`k2:${secret},k1:${k1.secret.toString('base64url')}`)).toEqual([
    { id: 'k2', secret: Buffer.from(secret, 'base64') },
    k1,
  ])
  expect(readEncryptionKeys(`a:${secret},a:${secret}`)).toMatch(/two keys with the id a$/)
  for (const wrong of ['', secret, `k1:${secret.slice(4)}`, `k 1:${secret}`, `k1:${secret},`]) {
    const said = readEncryptionKeys(wrong)
    expect(said).toMatch(/32 bytes/)
    expect(said).not.toContain(secret.slice(8, 20))
  }
})
