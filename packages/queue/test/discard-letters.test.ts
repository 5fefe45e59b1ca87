import { redriveRunId } from '@jadwal/domain'
import { keys, locateLetters } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { lettersAtOnce } from '../src/letters-at-once.ts'
import { anId, at, from, QUEUE, REQUEST, setup } from './setup-letters.ts'

test('a discarded letter leaves with its reason, and what was decided first holds', async () => {
  const { letters, redis, prefix, bury, buried, facts } = await setup()
  const [one, other] = [await bury(), await bury()]
  const decision = { by: 'ana', reason: 'a test order' }
  expect(await letters.discard([at(one)], decision)).toEqual([
    { id: one, discarded: true, isNew: true },
  ])
  const late = { by: 'bo', reason: 'too late' }
  expect(await letters.discard([at(one)], late)).toMatchObject([{ isNew: false }])
  expect(await buried()).toEqual([other])
  const [fact, ...more] = await facts()
  expect(fact).toEqual({
    kind: 'letter',
    id: one,
    letter: { at: expect.any(String), ...decision },
  })
  expect(more).toEqual([fact])
  const refused = [{ id: one, refused: 'discarded' }]
  expect(await letters.redrive([at(one)], REQUEST)).toEqual(refused)
  expect(await letters.redrive([at(one)], from(undefined))).toEqual(refused)
  await letters.redrive([at(other)], REQUEST)
  expect(await letters.discard([at(other)], decision)).toEqual([
    { id: other, discarded: false, redrivenAs: redriveRunId(other) },
  ])
  const queues = ['reports', QUEUE]
  const located = await locateLetters(redis, prefix, { ids: [one, other, anId()], queues })
  expect([...located]).toEqual([
    [one, QUEUE],
    [other, QUEUE],
  ])
})

test('a letter whose redrive was begun into another queue can not be discarded, and the answer says so', async () => {
  const { letters, redis, prefix, bury, buried, facts } = await setup()
  const id = await bury()
  await redis.set(keys.settledKey(prefix, QUEUE, id), 'claimed reports')
  const decision = { by: 'ana', reason: 'x' }
  expect(await letters.discard([at(id)], decision)).toEqual([
    { id, discarded: false, isBegun: true },
  ])
  expect([await buried(), await facts()]).toEqual([[id], []])
  expect(await letters.redrive([at(id)], REQUEST)).toMatchObject([{ isNew: true }])
})

test.each([
  ['young', 4, [5, 3, 2, 'it', 0]],
  ['old', 1, [5, 'it', 3, 2, 0]],
] as const)('of many letters, a %s one is looked for from its end', async (_which, n, expected) => {
  const { letters, redis, prefix, bury, buried } = await setup()
  const ids = await Promise.all(Array.from({ length: 6 }, () => bury()))
  for (const [at_, id] of ids.entries())
    await redis.hset(keys.deadKey(prefix, QUEUE, id), 'jdied', at_ * 1_000)
  const it = ids[n] ?? ''
  const nth = (at_: number): string => ids[at_] ?? ''
  // It stands near both ends, and only the one that is found first goes.
  const list = keys.deadKey(prefix, QUEUE, 'wait')
  await redis.del(list)
  await redis.rpush(list, nth(5), it, nth(3), nth(2), it, nth(0))
  await letters.discard([at(it)], { by: 'ana', reason: 'x' })
  expect(await buried()).toEqual(expected.map((each) => (each === 'it' ? it : nth(each))))
})

test('the longer the list of dead letters, the fewer one call of Redis takes out', async () => {
  const { redis, prefix } = await setup()
  expect(await lettersAtOnce(redis, prefix, QUEUE)).toBe(100)
  const entries = Array.from({ length: 50_000 }, (_, n) => String(n))
  await redis.rpush(keys.deadKey(prefix, QUEUE, 'wait'), ...entries)
  expect(await lettersAtOnce(redis, prefix, QUEUE)).toBe(40)
})
