import { expect, test } from 'vitest'
import { maskOf } from './secret-mask.ts'
import { shownProgress } from './shown-progress.ts'

test('progress is kept as it is, up to 16 KiB of JSON', () => {
  const fits = 'x'.repeat(16 * 1024 - 2)
  expect(shownProgress({ done: 0.5 }, undefined)).toEqual({ done: 0.5 })
  expect(shownProgress(fits, undefined)).toBe(fits)
  expect(shownProgress(`${fits}x`, undefined)).toEqual({ truncated: true, bytes: 16 * 1024 + 1 })
})

test('progress that JSON cannot say is replaced by a note, and secrets are masked in it', () => {
  const circle: { self?: unknown } = {}
  circle.self = circle
  const mask = maskOf(['hunter22'])
  for (const value of [circle, { n: 1n }]) {
    expect(shownProgress(value, undefined)).toHaveProperty('unserialisable')
    expect(shownProgress(value, mask)).toHaveProperty('unserialisable')
  }
  expect(shownProgress({ key: 'hunter22' }, mask)).toEqual({ key: '***' })
})
