import { publishCatalogue } from '@jadwal/queue'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMAIL_JOB } from './job-catalogue.ts'
import { setupApi, type TestApi } from './setup-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await setupApi()
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
})
afterAll(async () => api[Symbol.asyncDispose]())

const put = async (path: string, body: unknown) =>
  await api.ask(`/api/v1/${path}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const SCHEDULE = {
  job: 'email.send',
  every: '1h',
  payload: { to: 'ana@example.com', template: 'bye' },
}

test.each(['a\0b', 'a\ud800b'])(
  'a text that Postgres has no characters for is refused by its field: %j',
  async (text) => {
    const written = await put('schedules/texts', { ...SCHEDULE, description: text })
    expect(written).toMatchObject({ status: 400, body: { errors: [{ field: 'description' }] } })
    const silence = { until: '2100-01-01T00:00:00Z', reason: text, matchers: {} }
    const silenced = await put('alerts/silences/texts', silence)
    expect(silenced).toMatchObject({ status: 400 })
  },
)

test.each(['/schedules/%00', '/calendars/%00', '/runs?error=%00', '/audit?actor=%00'])(
  '%s is no mistake of the api',
  async (path) => {
    expect((await api.ask(`/api/v1${path}`)).status).toBeOneOf([400, 404])
  },
)
