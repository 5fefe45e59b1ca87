import { publishCatalogue } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { EMAIL, fileOf, setupSchedules } from './setup-schedules.ts'

const SEALED = 'email.sealed'
const warning = (schedule: string) => ({
  kind: 'plain-payload',
  schedule,
  message: expect.stringContaining('in clear text: give what is secret as { "secret": "NAME" }'),
})

test('who gives a schedule of a job that encrypts a payload in clear text is warned of it', async () => {
  await using api = await setupSchedules()
  await publishCatalogue(api.redis, api.prefix, [
    EMAIL_JOB,
    { ...EMAIL_JOB, name: SEALED, payloadSchema: {}, encrypt: true },
  ])
  const plain = { ...EMAIL, job: SEALED }
  const secret = { ...plain, payload: { to: { secret: 'TO' }, more: [{ secret: 'MORE' }] } }
  const put = await api.send('PUT', '/schedules/plain', plain)
  expect([put.status, put.body.warnings]).toEqual([201, [warning('plain')]])
  const again = await api.send('PUT', '/schedules/plain', secret)
  expect([again.status, again.body.warnings]).toEqual([200, []])
  expect((await api.send('PUT', '/schedules/open', EMAIL)).body.warnings).toEqual([])

  const file = fileOf({ a: plain, b: secret, c: EMAIL, d: { ...plain, payload: {} } })
  for (const path of ['/schedules/plan', '/schedules/apply']) {
    const { status, body } = await api.send('POST', path, file)
    expect([path, status, body.warnings]).toEqual([path, 200, [warning('a')]])
  }
})
