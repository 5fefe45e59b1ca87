import { randomBytes } from 'node:crypto'
import { newRunId } from '@jadwal/domain'
import { publishCatalogue } from '@jadwal/queue'
import { expect, inject, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi } from './setup-api.ts'
import { factOf, setupHistory } from './setup-history.ts'
import { startTcpProxy } from './tcp-proxy.ts'

const RUN = { job: 'email.send', payload: { to: 'ana@example.com', template: 'welcome' } }

test('an id of a run that only the history knows is refused', async () => {
  await using t = await setupHistory()
  const ended = factOf('succeeded', { queue: 'others' })
  await t.record(ended)
  const refused = await t.api.post({ ...RUN, id: ended.id })
  expect(refused.status).toBe(409)
  expect(refused.body.errors).toMatchObject([{ field: 'id', value: ended.id }])
})

test('while Postgres is away a run with an id is taken', async () => {
  await using proxy = await startTcpProxy(inject('postgresUrl'))
  await using api = await setupApi({}, proxy.wayTo)
  proxy.cut()
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
  const id = newRunId(Date.now(), randomBytes(10))
  const taken = await api.post({ ...RUN, id })
  expect([taken.status, taken.body]).toEqual([202, { id, state: 'queued' }])
})
