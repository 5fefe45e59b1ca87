import type { RunView } from '@jadwal/db'
import { systemClock } from '@jadwal/domain'
import type { Response } from 'express'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { noteCaller } from '../src/caller.ts'
import { ShownRuns } from '../src/shown-runs.ts'

const VIEW = { id: 'a', job: 'mail', payload: { card: '4111' } } as unknown as RunView

async function shownBy(redis: Redis): Promise<unknown> {
  onTestFinished(() => redis.disconnect())
  const res = { locals: {} } as Response
  noteCaller(res, { name: 'ana', role: 'admin', by: 'nothing' })
  const shown = new ShownRuns({ redis, prefix: 'shown-runs', clock: systemClock })
  return (await shown.oneForCaller(res, VIEW)).payload
}

test('until it could be read what jobs redact, no payload is shown', async () => {
  const away = new Redis({ port: 1, lazyConnect: true, retryStrategy: () => null })
  away.on('error', () => undefined)
  expect(await shownBy(away)).toBe('[redacted]')
  expect(await shownBy(new Redis(inject('redisUrl')))).toEqual({ card: '4111' })
})
