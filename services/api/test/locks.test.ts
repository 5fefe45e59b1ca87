import { keys } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { setupApi, type TestApi } from './setup-api.ts'

/** Runs that have gone and still have slots: one for each key. */
async function leaveSlots(api: TestApi, count: number): Promise<string[]> {
  const runs = Array.from({ length: count }, (_, at) => `run-${at}`)
  const lots = Object.fromEntries(runs.map((run) => [`key:pay:=${run}`, 1]))
  await api.redis.sadd(keys.queuesKey(api.prefix), 'pay')
  await api.redis.hset(keys.lotsKey(api.prefix, 'pay'), lots)
  for (const run of runs)
    await api.redis.sadd(keys.slotsKey(api.prefix, 'pay', `key:pay:=${run}`), run)
  return runs
}

const listed = async (api: TestApi) => {
  const { body } = await api.ask('/api/v1/locks')
  const holders: string[] = body.items.map(({ holder }: { holder: string }) => holder)
  return { holders, truncated: body.truncated }
}

test('the list of locks is cut and says so, and a slot beyond it can be released', async () => {
  await using api = await setupApi()
  const runs = await leaveSlots(api, 900)
  const { holders, truncated } = await listed(api)
  expect(truncated).toBe(true)
  expect(holders.filter((holder) => holder.startsWith('run-'))).toHaveLength(500)
  const unseen = runs.find((run) => !holders.includes(run)) ?? ''
  const release = () => api.ask(`/api/v1/locks/slot:pay:${unseen}`, { method: 'DELETE' })
  expect((await release()).status).toBe(204)
  expect((await release()).status).toBe(404)
})

test('a slot that was released is not in the next list', async () => {
  await using api = await setupApi()
  const [first = '', second = ''] = await leaveSlots(api, 2)
  expect((await listed(api)).holders).toEqual(expect.arrayContaining([first, second]))
  await api.ask(`/api/v1/locks/slot:pay:${first}`, { method: 'DELETE' })
  const { holders, truncated } = await listed(api)
  expect(holders).toContain(second)
  expect(holders).not.toContain(first)
  expect(truncated).toBe(false)
})
