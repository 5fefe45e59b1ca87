import { expect, test } from 'vitest'
import { bearerToken, sameSecret } from './bearer-token.ts'

test.each([
  ['Bearer abc', 'abc'],
  ['bearer  abc ', 'abc'],
  ['Basic abc', undefined],
  ['Bearer', undefined],
  ['Bearer a b', undefined],
  [undefined, undefined],
])('the header %j carries the token %j', (header, token) => {
  expect(bearerToken(header)).toBe(token)
})

test('secrets of any length can be compared', () => {
  expect(sameSecret('abc', 'abc')).toBe(true)
  expect(sameSecret('', 'abc')).toBe(false)
  expect(sameSecret('abcd', 'abc')).toBe(false)
})
