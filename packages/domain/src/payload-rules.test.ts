import { expect, test } from 'vitest'
import { isRedacted, keptPayload, mergedRules, redactedTexts, searchText } from './payload-rules.ts'

const ENVELOPE = { $encrypted: `1.k1.${'n'.repeat(16)}.${'c'.repeat(30)}` }
const payload = {
  card: { number: '4111111111111111', cvc: 123, owner: { name: 'Ani' } },
  order: 'A-17',
  items: [{ sku: 'x1' }, { sku: 'x2' }],
}

test('the history has a payload without what its job redacts, and what may be searched for', () => {
  const rules = {
    redact: ['card.number', 'card.cvc'],
    searchable: ['order', 'card', 'items.*.sku'],
  }
  expect(keptPayload({ payload }, rules)).toEqual({
    payload: { ...payload, card: { ...payload.card, number: '[redacted]', cvc: '[redacted]' } },
    search: 'A-17\nAni\nx1\nx2',
  })
  expect(keptPayload({ payload }, {})).toEqual({ payload })
  expect(keptPayload({ payload }, {}).payload).toBe(payload)
})

test('nothing is recorded where it is not known what the job redacts', () => {
  expect(keptPayload({ payload }, undefined)).toEqual({ payload: '[redacted]' })
})

test('an encrypted payload stays in its envelope, and one that should be is not recorded', () => {
  expect(keptPayload({ payload: ENVELOPE, search: 'A-17' }, undefined)).toEqual({
    payload: ENVELOPE,
    search: 'A-17',
  })
  expect(keptPayload({ payload }, { encrypt: true })).toEqual({ payload: '[redacted]' })
  const almost = { payload: { ...ENVELOPE, pin: 1 } }
  expect(keptPayload(almost, undefined)).toEqual({ payload: '[redacted]' })
})

test('the search text is bounded and ends with a whole character', () => {
  const text = searchText({ a: `${'x'.repeat(999)}😀` }, { searchable: ['a'] })
  expect(text).toBe('x'.repeat(999))
  expect(searchText({ a: null, b: true }, { searchable: ['a', 'b', 'c'] })).toBeUndefined()
})

test('what is redacted is told as texts, however deep', () => {
  expect(redactedTexts(payload, { redact: ['card'] })).toEqual(['4111111111111111', '123', 'Ani'])
})

test('a payload that lacks something is known by it', () => {
  expect(isRedacted({ a: [{ b: '[redacted]' }] })).toBe(true)
  expect(isRedacted('[redacted]')).toBe(true)
  expect(isRedacted(payload)).toBe(false)
})

test('of two definitions the stricter holds', () => {
  expect(mergedRules({ redact: ['a'] }, { redact: ['b', 'a'], encrypt: true })).toEqual({
    searchable: [],
    redact: ['a', 'b'],
    encrypt: true,
  })
})
