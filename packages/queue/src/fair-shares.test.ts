import { expect, test } from 'vitest'
import { fairShares } from './fair-shares.ts'

test.each([
  [[], 10, []],
  [[3, 4], 10, [3, 4]],
  [[1, 100, 100], 11, [1, 5, 5]],
  [[100, 2, 100], 10, [4, 2, 4]],
  [[7, 7, 7], 2, [0, 1, 1]],
])('of %j wanted, %i may be had together: %j', (wanted, most, shares) => {
  expect(fairShares(wanted, most)).toEqual(shares)
})
