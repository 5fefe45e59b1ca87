import { SECOND } from '@jadwal/domain'
import { FakeClock } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { SharedLook } from './shared-look.ts'

test('whoever asks within some seconds gets the same look, failed or not, until it is forgotten', async () => {
  const clock = new FakeClock()
  let looks = 0
  let error: Error | undefined
  const take = async (): Promise<number> => {
    looks += 1
    if (error) throw error
    return looks
  }
  const shared = new SharedLook(take, 3 * SECOND, clock)
  expect(await Promise.all([shared.recent(), shared.recent()])).toEqual([1, 1])
  clock.advance(3 * SECOND - 1)
  expect(await shared.recent()).toBe(1)
  clock.advance(1)
  error = new Error('away')
  await expect(shared.recent()).rejects.toThrow('away')
  error = undefined
  await expect(shared.recent()).rejects.toThrow('away')
  shared.forget()
  expect(await shared.recent()).toBe(3)
})
