import { expect, test } from 'vitest'
import { maskedLog, maskOf, maskValue } from './secret-mask.ts'

const SECRET = 'pass"word\\1'

test('each secret is hidden, as it is and within JSON, the longer one first', () => {
  const mask = maskOf([SECRET, 'hunter', 'hunter22'])
  const text = `${SECRET} ${JSON.stringify({ key: SECRET })} hunter hunter22`
  expect(mask?.(text)).toBe('*** {"key":"***"} *** ***')
})

test('what is short is found in too many words that are none, and not hidden', () => {
  expect(maskOf(['short', ''])).toBeUndefined()
})

test('a value keeps its form, but for numbers that have what is hidden in their digits', () => {
  const mask = maskOf(['123456', '","b":"'])
  if (!mask) throw new Error('no mask')
  const value = {
    a: 'x',
    b: 'y',
    n: 1_234_567,
    m: 234_567,
    list: ['key 123456', null, true],
    at: new Date(0),
  }
  expect(maskValue(value, mask)).toEqual({
    ...value,
    n: '***7',
    list: ['key ***', null, true],
    at: '1970-01-01T00:00:00.000Z',
  })
  expect(maskValue({ 'k-123456': new Error('of 123456') }, mask)).toMatchObject({
    'k-***': { name: 'Error', message: 'of ***' },
  })
  expect(maskValue(undefined, mask)).toBeUndefined()
})

test('facts that throw when they are looked at are logged as such', () => {
  const mask = maskOf(['123456'])
  if (!mask) throw new Error('no mask')
  const seen: unknown[] = []
  const note = (facts: unknown): void => void seen.push(facts)
  const log = maskedLog({ debug: note, info: note, warn: note, error: note }, mask)
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  log.info(proxy, 'of 123456')
  expect(seen).toEqual([{ unserialisable: true }])
})
