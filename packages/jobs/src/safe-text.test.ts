import { expect, test } from 'vitest'
import { headText, tailText, wholeText } from './safe-text.ts'

const euro = Buffer.from('€') // three bytes

test('NUL and bytes that are no UTF-8 become the replacement character', () => {
  expect(wholeText(Buffer.from([0x61, 0, 0xff, 0x62]))).toBe('a\uFFFD\uFFFDb')
})

test('half a character at a cut is left out', () => {
  expect(headText(Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)]))).toBe('a')
  expect(tailText(Buffer.concat([euro.subarray(1), Buffer.from('b')]))).toBe('b')
})

test('whole characters at a cut stay', () => {
  expect(headText(Buffer.from('a€'))).toBe('a€')
  expect(tailText(Buffer.from('€b'))).toBe('€b')
})
