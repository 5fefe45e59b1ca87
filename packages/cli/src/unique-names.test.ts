import { expect, test } from 'vitest'
import { nameSlug, UniqueNames } from './unique-names.ts'

test('a name that was taken is not given again, one that was only asked for is', () => {
  const names = new UniqueNames()
  expect([names.free('a', 'x'), names.free('a', 'x')]).toEqual(['a', 'a'])
  names.take('a')
  names.take('a-2')
  expect(names.free('a', 'x')).toBe('a-3')
  expect(names.free('', 'x')).toBe('x')
  expect(names.free('load', 'x')).toBe('load-2')
  expect(names.free('n'.repeat(200), 'x')).toBe('n'.repeat(90))
})

test.each([
  ['sendWelcomeMail', 'send-welcome-mail'],
  ['Tenant:7 / Sync', 'tenant-7-sync'],
  ['__default__', 'default'],
  ['日本', ''],
])('%j is written as %j', (text, slug) => {
  expect(nameSlug(text)).toBe(slug)
})
