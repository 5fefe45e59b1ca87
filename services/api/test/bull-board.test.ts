import { keys, publishCatalogue } from '@jadwal/queue'
import { eventually } from '@jadwal/testkit'
import { describe, expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi } from './setup-api.ts'

describe('Bull Board', () => {
  test('queues appear by themselves, with their dead letters, to look at only', async () => {
    await using api = await setupApi()
    const shown = async () => {
      const { body } = await api.ask('/queues/api/queues')
      return body.queues as { name: string; readOnlyMode: boolean }[]
    }
    await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
    const queues = await eventually(async () => {
      const found = await shown()
      expect(found.map(({ name }) => name).toSorted()).toEqual(['emails', 'emails.dead', 'ticks'])
      return found
    })
    expect(queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true)
    expect(await api.redis.exists(keys.bullKey(api.prefix, 'emails', 'meta'))).toBe(0)
  })
})
