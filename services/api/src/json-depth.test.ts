import { expect, test } from 'vitest'
import { refuseDeepJson } from './json-depth.ts'
import { Problem } from './problem.ts'

const check = (text: string): void => refuseDeepJson(undefined, undefined, Buffer.from(text))

test('what is nested too deep is refused, whatever its brackets', () => {
  expect(() => check('['.repeat(201))).toThrow(Problem)
  expect(() => check('{"a":['.repeat(101))).toThrow(/nested deeper than 200/)
})

test('brackets in texts do not count, nor those that are closed', () => {
  const texts = [
    JSON.stringify('['.repeat(1_000)),
    JSON.stringify({ a: `\\"${'{'.repeat(500)}` }),
    '[]'.repeat(1_000),
    '['.repeat(200),
  ]
  for (const text of texts) expect(() => check(text)).not.toThrow()
})
