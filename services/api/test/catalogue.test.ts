import { randomBytes } from 'node:crypto'
import { openRedis, producerConnection, publishCatalogue, redisReady } from '@jadwal/queue'
import { eventually, FakeClock } from '@jadwal/testkit'
import { expect, inject, onTestFinished, test } from 'vitest'
import { Catalogue } from '../src/catalogue.ts'
import { acceptBatch } from '../src/enqueue-batch.ts'
import { JobCheck } from '../src/job-check.ts'
import { EMAIL_JOB } from './job-catalogue.ts'
import { watchCommands } from './watch-commands.ts'

async function setup() {
  const redis = openRedis(producerConnection(inject('redisUrl')), () => undefined)
  onTestFinished(() => redis.disconnect())
  await redisReady(redis, 5_000)
  return { redis, prefix: `t${randomBytes(4).toString('hex')}`, clock: new FakeClock() }
}

test('the catalogue is read once a second, and at once for a job that is not in it', async () => {
  const { redis, prefix, clock } = await setup()
  const catalogue = new Catalogue({ redis, prefix, clock })
  const attemptsOf = async (job: string): Promise<number | undefined> =>
    (await catalogue.with([job])).find(({ name }) => name === job)?.attempts

  expect(await attemptsOf('email.send')).toBeUndefined()
  await publishCatalogue(redis, prefix, [EMAIL_JOB])
  expect(await attemptsOf('email.send')).toBe(3)
  await publishCatalogue(redis, prefix, [{ ...EMAIL_JOB, attempts: 5 }])
  clock.advance(999)
  expect(await attemptsOf('email.send')).toBe(3)
  clock.advance(1)
  expect(await attemptsOf('email.send')).toBe(5)
})

test('a batch of runs of many unknown jobs has the catalogue read once', async () => {
  const { redis, prefix, clock } = await setup()
  await publishCatalogue(redis, prefix, [EMAIL_JOB])
  await using watch = await watchCommands(inject('redisUrl'))
  const jobs = new JobCheck({ redis, prefix, clock })
  const runs = Array.from({ length: 500 }, (_, n) => ({ job: `unknown-${n}` }))
  const refused = acceptBatch({ clock }, jobs, { runs: [...runs, { job: EMAIL_JOB.name }] })
  await expect(refused).rejects.toMatchObject({ kind: 'unknown-job' })
  await redis.echo(prefix)
  await eventually(() => expect(watch.commands).toContainEqual(['echo', prefix]))
  const reads = watch.commands.filter((args) => args[0] === 'hvals' && args[1]?.includes(prefix))
  expect(reads).toHaveLength(1)
})
