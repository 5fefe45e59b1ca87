import { expect, test } from 'vitest'
import { Problem } from './problem.ts'
import { type Sent, sendApart } from './send-apart.ts'

const MANY = 500

/** Sends numbers, refusing all while one is among them that it refuses; tells what was looked at and sent. */
function sending(refuses: (n: number) => boolean) {
  const seen = { looked: 0, sent: [] as number[] }
  const send = (items: readonly number[]): Promise<Sent<string>> => {
    seen.looked += items.length
    const index = items.findIndex(refuses)
    if (index >= 0) {
      const problem = new Problem('bad-request', { detail: `not ${items[index]}` })
      return Promise.resolve({ index, problem })
    }
    seen.sent.push(...items)
    return Promise.resolve({ sent: items.map(String) })
  }
  return { seen, send }
}

const isRefused = (n: number): boolean => n % 7 === 3 || n === MANY - 1
const numbers = Array.from({ length: MANY }, (_, n) => n)
const said = (outcome: string | Problem): string =>
  outcome instanceof Problem ? outcome.message : outcome

test('what is refused is told at its place, and all others are sent in their order', async () => {
  const { seen, send } = sending(isRefused)
  const outcomes = await sendApart(numbers, send)
  expect(outcomes.map(said)).toEqual(numbers.map((n) => (isRefused(n) ? `not ${n}` : `${n}`)))
  expect(seen.sent).toEqual(numbers.filter((n) => !isRefused(n)))
})

test('many that are all refused are not looked at over and over', async () => {
  const { seen, send } = sending(() => true)
  expect((await sendApart(numbers, send)).map(said)).toEqual(numbers.map((n) => `not ${n}`))
  expect(seen.looked).toBeLessThan(MANY * Math.ceil(Math.log2(MANY)))
})

test('nothing is sent for nothing', async () => {
  const { seen, send } = sending(() => true)
  expect(await sendApart([], send)).toEqual([])
  expect(seen.looked).toBe(0)
})
