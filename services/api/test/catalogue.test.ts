import { randomBytes } from 'node:crypto'
import { openRedis, producerConnection, publishCatalogue, redisReady } from '@jadwal/queue'
import { FakeClock } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { Catalogue } from '../src/catalogue.ts'
import { EMAIL_JOB } from './job-catalogue.ts'

test('the catalogue is read once a second, and at once for a job that is not in it', async () => {
  const redis = openRedis(producerConnection(inject('redisUrl')), () => undefined)
  onTestFinished(() => redis.disconnect())
  await redisReady(redis, 5_000)
  const prefix = `t${randomBytes(4).toString('hex')}`
  const clock = new FakeClock()
  const catalogue = new Catalogue({ redis, prefix, clock })
  const attemptsOf = async (job: string): Promise<number | undefined> =>
    (await catalogue.with(job)).find(({ name }) => name === job)?.attempts

  expect(await attemptsOf('email.send')).toBeUndefined()
  await publishCatalogue(redis, prefix, [EMAIL_JOB])
  expect(await attemptsOf('email.send')).toBe(3)
  await publishCatalogue(redis, prefix, [{ ...EMAIL_JOB, attempts: 5 }])
  clock.advance(999)
  expect(await attemptsOf('email.send')).toBe(3)
  clock.advance(1)
  expect(await attemptsOf('email.send')).toBe(5)
})
