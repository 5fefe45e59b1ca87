import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { takeTurns } from './take-turns.ts'

test('of those who wait together each gets a turn of the event loop of its own, in their order', async () => {
  const turn = takeTurns()
  let turns = 0
  const taken: { by: number; at: number }[] = []
  const all = Promise.all(
    Array.from({ length: 5 }, async (_, by) => {
      await turn()
      taken.push({ by, at: turns })
    }),
  )
  while (taken.length < 5) {
    await setImmediate()
    turns += 1
  }
  await all
  expect(taken.map(({ by }) => by)).toEqual([0, 1, 2, 3, 4])
  expect(new Set(taken.map(({ at }) => at)).size).toBe(5)
})
