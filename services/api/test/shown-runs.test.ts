import type { RunView } from '@jadwal/db'
import { type JobDescription, type Role, systemClock } from '@jadwal/domain'
import { publishCatalogue } from '@jadwal/queue'
import type { Response } from 'express'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { noteCaller } from '../src/caller.ts'
import { ShownRuns } from '../src/shown-runs.ts'
import { EMAIL_JOB } from './job-catalogue.ts'

const SECRET = '4111-1111'
const PIN = 4_711
const error = { name: 'Error', message: `no card ${SECRET}` }
const line = { at: '2026-04-01T00:00:00.000Z', level: 'info', message: `charging ${SECRET}` }
/** As it was recorded before its job said anything of secrets. */
const OLD = {
  id: 'a',
  job: 'mail',
  payload: { card: SECRET, pin: PIN, year: 2026, to: 'ana' },
  result: { charged: SECRET, pin: PIN },
  progress: [SECRET],
  error,
  attempts: [{ attempt: 1, error, log: [line] }],
} as unknown as RunView

function redisAt(url: string): Redis {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => undefined)
  onTestFinished(() => redis.disconnect())
  return redis
}

async function shownBy(redis: Redis, prefix: string, role: Role = 'admin'): Promise<RunView> {
  const res = { locals: {} } as Response
  noteCaller(res, { name: 'ana', role, by: 'nothing' })
  const shown = new ShownRuns({ redis, prefix, clock: systemClock })
  return await shown.oneForCaller(res, OLD)
}

async function published(job: Partial<JobDescription>): Promise<[Redis, string]> {
  const redis = redisAt(inject('redisUrl'))
  const prefix = `shown-runs-${crypto.randomUUID()}`
  await publishCatalogue(redis, prefix, [{ ...EMAIL_JOB, name: 'mail', ...job }])
  return [redis, prefix]
}

test('until it could be read what jobs redact, no payload is shown', async () => {
  const away = await shownBy(redisAt('redis://127.0.0.1:1'), 'shown-runs')
  expect(JSON.stringify(away)).not.toMatch(/4111|4711/)
  expect(away).toMatchObject({ id: 'a', payload: '[redacted]', error: { name: 'Error' } })
  expect(await shownBy(...(await published({})))).toEqual(OLD)
})

test('what a job redacts by now is in nothing that older rows have', async () => {
  const shown = await shownBy(...(await published({ redact: ['card', 'pin', 'year'] })))
  expect(JSON.stringify(shown)).not.toMatch(/4111|4711/)
  expect(shown).toMatchObject({
    payload: { card: '[redacted]', pin: '[redacted]', to: 'ana' },
    result: { charged: '[redacted]', pin: '[redacted]' },
    error: { name: 'Error', message: 'no card [redacted]' },
    attempts: [{ attempt: 1, log: [{ ...line, message: 'charging [redacted]' }] }],
  })
})

test('what a job encrypts by now is for operators, also where older rows have it in plain', async () => {
  const [redis, prefix] = await published({ encrypt: true })
  const hidden = { payload: '[encrypted]', result: '[encrypted]', progress: '[encrypted]' }
  expect(await shownBy(redis, prefix, 'viewer')).toMatchObject(hidden)
  expect(await shownBy(redis, prefix, 'operator')).toEqual(OLD)
})
