import { expect, test } from 'vitest'
import { isAtLeast, Role } from './role.ts'

test('each role may do what those before it may', () => {
  const allowed = Role.options.map((role) =>
    Role.options.filter((needed) => isAtLeast(role, needed)),
  )
  expect(allowed).toEqual([['viewer'], ['viewer', 'operator'], ['viewer', 'operator', 'admin']])
})
