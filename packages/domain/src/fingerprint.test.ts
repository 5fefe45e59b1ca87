import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fingerprint, normalisedMessage } from './fingerprint.ts'

const JOB = 'email.send'
const of = (message: string, name = 'Error', job = JOB): string =>
  fingerprint(job, { name, message })

/** What an error may say of one customer or another. */
const varying = {
  number: fc.nat().map(String),
  uuid: fc.uuid(),
  hex: fc.nat().map((n) => `0x${n.toString(16)}`),
  digest: fc
    .tuple(fc.integer({ min: 0x10000, max: 0xfffff }), fc.constantFrom('ab', 'de', 'fa'))
    .map(([n, end]) => `7${n.toString(16)}${end}9c01`),
  quoted: fc.string({ maxLength: 30 }).map((text) => `"${text.replaceAll(/["\n]/g, '')}"`),
  email: fc.nat().map((n) => `user.${n}+x@mail-${n}.example.org`),
  address: fc.ipV4(),
  time: fc
    .date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
} as const

const kinds = fc.constantFrom(...(Object.keys(varying) as (keyof typeof varying)[]))
const words = fc.array(fc.constantFrom('could', 'not', 'charge', 'customer', 'of', 'order'), {
  minLength: 1,
  maxLength: 6,
})
/** Two messages of one cause: the same words around values of the same kinds. */
const twins = fc.array(fc.tuple(words, kinds), { minLength: 1, maxLength: 5 }).chain((parts) => {
  const message = fc
    .tuple(...parts.map(([said, kind]) => varying[kind].map((value) => [...said, value].join(' '))))
    .map((texts) => texts.join(', '))
  return fc.tuple(message, message)
})

test('errors that differ in numbers, ids, quoted values, addresses and times have one fingerprint', () => {
  fc.assert(
    fc.property(twins, ([one, other]) => {
      expect(normalisedMessage(one)).toBe(normalisedMessage(other))
      expect(of(one)).toBe(of(other))
    }),
  )
})

test('another job, error class or sentence has another fingerprint', () => {
  fc.assert(
    fc.property(twins, ([one]) => {
      const all = [of(one), of(one, 'TypeError'), of(one, 'Error', 'report'), of(`${one}, refused`)]
      expect(new Set(all).size).toBe(all.length)
    }),
  )
})

test('it has 16 hex digits, whatever the message is', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 3_000, unit: 'binary' }), fc.string(), (message, name) => {
      expect(of(message, name)).toMatch(/^[0-9a-f]{16}$/)
    }),
  )
})

test.each([
  [
    'ENOENT: no such file, open /data/in/2026-09-01/upload-8f3a91bc77.csv',
    'ENOENT: no such file, open /data/in/<time>/upload-<id>.csv',
  ],
  ['connect ECONNREFUSED 10.0.12.7:5432', 'connect ECONNREFUSED <address>'],
  ['connect ECONNREFUSED [2001:db8::1]:5432', 'connect ECONNREFUSED <address>'],
  ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED <address>'],
  [
    'GET https://api.example.com/users/4711/orders?page=3&key=x answered 503',
    'GET https://api.example.com/users/<n>/orders answered <n>',
  ],
  ["can't read property 'amount' of undefined", "can't read property <value> of undefined"],
  ['Timed out after 30,000 ms  at 12:30:45.123', 'Timed out after <n> ms at <time>'],
  ['duplicate key (id)=(000000000000000123)', 'duplicate key (id)=(<n>)'],
  ['worker3 lost job_12345678', 'worker<n> lost <id>'],
])('%j is told as %j', (message, told) => {
  expect(normalisedMessage(message)).toBe(told)
})

test('a very long message takes no longer than a short one', () => {
  const started = performance.now()
  for (const filler of ['a1', '1', '"', "'", '.', ':', 'a@', '://', '0x', ' '])
    of(filler.repeat(1_000_000))
  expect(performance.now() - started).toBeLessThan(15_000)
})
