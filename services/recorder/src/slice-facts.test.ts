import { expect, test } from 'vitest'
import { sliceFacts } from './slice-facts.ts'

const MIB = 1024 * 1024

function sizes(...lengths: number[]): number[][] {
  const facts = lengths.map((length) => ({
    line: 'x'.repeat(length),
    entry: { queue: 'emails', id: '1-0', lines: [] },
  }))
  return [...sliceFacts(facts)].map((slice) => slice.map(({ line }) => line.length))
}

test('facts are cut by how many they are', () => {
  const slices = sizes(...Array.from({ length: 9_000 }, () => 10))
  expect(slices.map(({ length }) => length)).toEqual([4_000, 4_000, 1_000])
})

test('facts are cut by how long they are, and one that is too long stands alone', () => {
  expect(sizes(5 * MIB, 3 * MIB, 1, 9 * MIB, 2)).toEqual([[5 * MIB, 3 * MIB], [1], [9 * MIB], [2]])
})

test('of no facts there is no slice', () => {
  expect(sizes()).toEqual([])
})
