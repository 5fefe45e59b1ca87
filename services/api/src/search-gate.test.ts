import { once } from 'node:events'
import { expect, test } from 'vitest'
import { searchGate } from './search-gate.ts'

/** Searches that end when they are told to. */
function setup(connections: number) {
  const gate = searchGate(connections)
  const ends: (() => void)[] = []
  return {
    ends,
    search: () => gate(() => new Promise<void>((resolve) => void ends.push(resolve))),
  }
}

test.each([
  [10, 5],
  [3, 1],
  [1, 1],
])('of %i connections %i are for searches', async (connections, most) => {
  const { ends, search } = setup(connections)
  const searches = Array.from({ length: 8 }, () => search())
  for (let ended = 0; ended < 8; ended += 1) {
    await expect.poll(() => ends.length, { timeout: 30_000 }).toBe(Math.min(8, ended + most))
    ends[ended]?.()
  }
  await Promise.all(searches)
})

test('who would wait behind a hundred others is told to come back', async () => {
  const gate = searchGate(2)
  const end = new AbortController()
  const released = once(end.signal, 'abort')
  const searches = Array.from({ length: 101 }, () => gate(() => released))
  await expect(gate(() => released)).rejects.toMatchObject({ kind: 'try-later', status: 503 })
  end.abort()
  await Promise.all(searches)
})

test('whose turn does not come is told so, and then does not search after all', async () => {
  const gate = searchGate(2, 50)
  const end = new AbortController()
  const released = once(end.signal, 'abort')
  const first = gate(() => released)
  let searched = false
  const second = gate(async () => {
    searched = true
  })
  await expect(second).rejects.toMatchObject({ kind: 'try-later', status: 503 })
  end.abort()
  await first
  await expect(gate(async () => 'next')).resolves.toBe('next')
  expect(searched).toBe(false)
})
