import { expect, test } from 'vitest'
import { diffSpecs } from './spec-diff.ts'

test('what is the same in another order is no difference', () => {
  const before = { cron: '* * * * *', payload: { a: 1, b: [{ x: 1, y: 2 }] } }
  const after = { payload: { b: [{ y: 2, x: 1 }], a: 1 }, cron: '* * * * *' }
  expect(diffSpecs(before, after)).toEqual([])
})

test('fields are told by their path, what was and is there; lists whole', () => {
  const before = { cron: '* * * * *', misfire: { policy: 'once' }, payload: { to: ['a'], n: null } }
  const after = { every: '1m', misfire: { policy: 'all' }, payload: { to: ['a', 'b'], n: 0 } }
  expect(diffSpecs(before, after)).toEqual([
    { field: 'cron', before: '* * * * *' },
    { field: 'misfire.policy', before: 'once', after: 'all' },
    { field: 'payload.to', before: ['a'], after: ['a', 'b'] },
    { field: 'payload.n', before: null, after: 0 },
    { field: 'every', after: '1m' },
  ])
})

test('a key of the prototype is no field', () => {
  expect(diffSpecs({}, { constructor: 1 })).toEqual([{ field: 'constructor', after: 1 }])
})
