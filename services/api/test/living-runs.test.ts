import { openDatabase, recordFacts } from '@jadwal/db'
import { publishCatalogue } from '@jadwal/queue'
import { startTestRedis } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi, type TestApi } from './setup-api.ts'
import { factOf } from './setup-history.ts'

const PAYLOAD = { to: 'ana@example.com', template: 'welcome' }

async function enqueue(api: TestApi, more: object = {}): Promise<string> {
  const accepted = await api.post({
    job: 'email.send',
    payload: PAYLOAD,
    ...more,
  })
  return accepted.body.id as string
}

const idsOf = (answer: { body: { items: { id: string }[] } }) =>
  answer.body.items.map(({ id }) => id)

test('runs that wait without a row are found by the filters of the history, page by page, until Redis is away', async () => {
  await using redis = await startTestRedis({ appendonly: 'no' })
  await using api = await setupApi({ REDIS_URL: redis.url })
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
  const first = await enqueue(api)
  const keyed = await enqueue(api, { idempotencyKey: 'k-1', priority: 3 })
  const done = factOf('succeeded')
  const db = openDatabase({ url: api.databaseUrl, schema: 'jadwal', max: 1 })
  await recordFacts(db, [JSON.stringify(done)])
  await db.destroy()
  // It has a row as well.
  const delayed = await enqueue(api, { delayMs: 3_600_000 })
  const list = async (query: string) => idsOf(await api.ask(`/api/v1/runs?${query}`))

  expect(await list('')).toEqual([delayed, done.id, keyed, first])
  expect(await list('state=queued')).toEqual([delayed, keyed, first])
  expect(await list('state=succeeded')).toEqual([done.id])
  expect(await list('idempotencyKey=k-1')).toEqual([keyed])
  expect(await list('q=k-1&job=email.send&queue=emails')).toEqual([keyed])
  expect(await list('queue=reports')).toEqual([])
  expect(await list('label=team:billing')).toEqual([])
  expect(await list('to=2001-01-01T00:00:00Z')).toEqual([])

  const paged: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page = await api.ask(`/api/v1/runs?limit=1${query}`)
    paged.push(...idsOf(page))
    cursor = page.body.nextCursor as string | null
  }
  expect(paged).toEqual([delayed, done.id, keyed, first])

  await redis.stop()
  const { body } = await api.ask('/api/v1/runs')
  expect(body.partial).toBe(true)
  expect(idsOf({ body })).toContain(done.id)
  expect(idsOf({ body })).not.toContain(first)
})
