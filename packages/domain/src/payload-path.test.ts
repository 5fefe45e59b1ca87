import { expect, test } from 'vitest'
import { PayloadPath, redactPayload, valuesAt } from './payload-path.ts'

const payload = {
  card: { number: '4111', owner: 'Ani' },
  items: [{ sku: 'a', key: 'k1' }, { sku: 'b' }, null],
}

test('a path names a member, and * each of them', () => {
  expect(valuesAt(payload, ['card.number', 'items.*.sku', 'items.1.sku', 'absent.at.all'])).toEqual(
    ['4111', 'a', 'b', 'b'],
  )
})

test('what is at a path is hidden, and the rest and the payload itself stay', () => {
  const before = structuredClone(payload)
  expect(redactPayload(payload, ['card', 'items.*.key', 'nowhere'])).toEqual({
    card: '[redacted]',
    items: [{ sku: 'a', key: '[redacted]' }, { sku: 'b' }, null],
  })
  expect(payload).toEqual(before)
  expect(redactPayload(payload, ['card.cvc'])).toBe(payload)
})

test('a member called __proto__ is one like any other', () => {
  const odd: unknown = JSON.parse('{"__proto__":{"pin":1},"a":1}')
  expect(JSON.stringify(redactPayload(odd, ['__proto__.pin']))).toBe(
    '{"__proto__":{"pin":"[redacted]"},"a":1}',
  )
})

test.each(['', 'a..b', '.a', 'a b', 'a.b*'])('%j is no path', (path) => {
  expect(PayloadPath.safeParse(path).success).toBe(false)
})
