import { publishCatalogue } from '@jadwal/queue'
import { EMAIL_JOB } from './job-catalogue.ts'
import { type Answer, setupApi, type TestApi } from './setup-api.ts'

export const EMAIL = {
  job: 'email.send',
  cron: '0 6 * * *',
  payload: { to: 'ana@example.com', template: 'bye' },
}

export interface SchedulesApi extends TestApi {
  /** With a body of JSON, when there is one. */
  send: (method: string, path: string, body?: unknown) => Promise<Answer>
}

/** An api whose catalogue has one job. */
export async function setupSchedules(
  env: Record<string, string> = {},
  wayToDatabase?: (url: string) => string,
): Promise<SchedulesApi> {
  const api = await setupApi(env, wayToDatabase)
  await publishCatalogue(api.redis, api.prefix, [EMAIL_JOB])
  const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
    api.ask(`/api/v1${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  return { ...api, send }
}

export function fileOf(schedules: Record<string, object>, more: object = {}): object {
  return { version: 1, schedules, ...more }
}
