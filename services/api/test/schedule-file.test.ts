import { eventually } from '@jadwal/testkit'
import { expect, test } from 'vitest'
import { setupApi } from './setup-api.ts'
import { auditFacts } from './setup-audit.ts'
import { EMAIL, fileOf, setupSchedules } from './setup-schedules.ts'

const NO_CHANGE = { added: [], changed: [], removed: [], unchanged: [], foreign: [] }

const version = (schedule: string, number: number) => ({ schedule, version: number })

/** The next ticks of a schedule that fires once a day. */
function five(hour: number, more: object = {}): object[] {
  const tickAt = expect.stringContaining(`T0${hour}:00:00.000Z`) as string
  return [1, 2, 3, 4, 5].map(() => Object.assign({ tickAt }, more))
}

test('a plan tells what would be added, changed and removed, with the ticks before and after', async () => {
  await using api = await setupSchedules()
  await api.send('POST', '/schedules/apply', fileOf({ a: EMAIL, b: EMAIL, c: EMAIL }))
  await api.send('POST', '/schedules/a/pause', {})
  const file = fileOf({ a: { ...EMAIL, cron: '0 7 * * *' }, b: EMAIL, d: EMAIL }, { prune: true })
  const plan = await api.send('POST', '/schedules/plan', file)
  expect(plan.status).toBe(200)
  const paused = { skipped: 'paused' }
  expect(plan.body).toEqual({
    added: [{ name: 'd', after: five(6) }],
    changed: [
      {
        name: 'a',
        diff: [{ field: 'cron', before: '0 6 * * *', after: '0 7 * * *' }],
        before: five(6, paused),
        after: five(7, paused),
      },
    ],
    removed: [{ name: 'c', before: five(6) }],
    unchanged: ['b'],
    foreign: [],
    calendars: NO_CHANGE,
    warnings: [],
  })
  const applied = await api.send('POST', '/schedules/apply', file)
  expect(applied.body).toEqual({
    added: ['d'],
    changed: ['a'],
    removed: ['c'],
    unchanged: ['b'],
    foreign: [],
    calendars: NO_CHANGE,
    warnings: [],
  })
  await eventually(async () => {
    const last = (await auditFacts(api)).findLast(({ audit }) => audit.action === 'schedules.apply')
    expect(last?.audit.before).toEqual({ versions: [version('a', 1), version('c', 1)] })
    expect(last?.audit.after).toMatchObject({ versions: [version('a', 2), version('d', 1)] })
  })
})

test('pruning is asked for in the file or in the query, which goes first', async () => {
  await using api = await setupSchedules()
  await api.send('POST', '/schedules/apply', fileOf({ a: EMAIL, b: EMAIL }))
  const removed = async (query: string, more = {}) =>
    (await api.send('POST', `/schedules/plan${query}`, fileOf({ a: EMAIL }, more))).body.removed
  expect(await removed('')).toEqual([])
  expect(await removed('', { prune: true })).toHaveLength(1)
  expect(await removed('?prune=true')).toHaveLength(1)
  expect(await removed('?prune=false', { prune: true })).toEqual([])
})

test('YAML and JSON are one; two that apply at once make one version', async () => {
  await using api = await setupSchedules()
  const yaml = `version: 1
defaults: { timezone: Asia/Jakarta }
calendars:
  holidays: { dates: [12-25] }
schedules:
  a:
    job: email.send
    cron: "0 6 * * *"
    calendars: { skip: [holidays] }
    payload: { to: ana@example.com, template: bye }
`
  const applyYaml = () =>
    api.ask('/api/v1/schedules/apply?reason=yaml', {
      method: 'POST',
      headers: { 'content-type': 'application/yaml' },
      body: yaml,
    })
  const answers = await Promise.all([applyYaml(), applyYaml()])
  expect(answers.flatMap(({ body }) => body.added)).toEqual(['a'])
  expect((await api.send('GET', '/schedules/a')).body).toMatchObject({
    version: 1,
    source: 'file',
    timezone: 'Asia/Jakarta',
    calendars: { skip: ['holidays'] },
  })
  const { body } = await api.send('GET', '/schedules/a/versions')
  expect(body.items).toMatchObject([{ author: 'admin', reason: 'yaml' }])
})

test('a file is applied whole or not at all, and each problem is told with its place', async () => {
  await using api = await setupSchedules()
  const wrong = fileOf({
    fine: EMAIL,
    b: { ...EMAIL, cron: '* * *' },
    c: { ...EMAIL, attempts: 0 },
  })
  for (const path of ['/schedules/plan', '/schedules/apply']) {
    const refused = await api.send('POST', path, wrong)
    expect(refused.status).toBe(400)
    expect(refused.body.errors).toMatchObject([
      { field: 'schedules.b.cron', value: '* * *' },
      { field: 'schedules.c.attempts', value: 0 },
    ])
    const unserved = await api.send(
      'POST',
      path,
      fileOf({ fine: EMAIL, d: { ...EMAIL, job: 'x' } }),
    )
    expect(unserved.status).toBe(422)
    expect(unserved.body.errors).toMatchObject([{ field: 'schedules.d.job', value: 'x' }])
    const unknown = fileOf({ fine: EMAIL, e: { ...EMAIL, calendars: { only: ['x'] } } })
    expect((await api.send('POST', path, unknown)).body.errors).toMatchObject([
      { field: 'schedules.e.calendars.only.0', value: 'x' },
    ])
  }
  expect((await api.send('GET', '/schedules')).body.items).toEqual([])
})

test('what is no file is refused plainly', async () => {
  await using api = await setupSchedules()
  const post = (type: string, body: string) =>
    api.ask('/api/v1/schedules/plan', { method: 'POST', headers: { 'content-type': type }, body })
  const levels = Array.from(
    { length: 9 },
    (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`,
  )
  const bomb = ['a0: &a0 [lol]', ...levels].join('\n')
  for (const [answer, status, said] of [
    [await post('application/yaml', 'a: [1'), 400, 'line 1'],
    [await post('application/yaml', bomb), 400, 'alias'],
    [await post('application/yaml', '- 1'), 400, 'must be a map'],
    [await post('application/json', '{"a":'), 400, 'JSON'],
    [await post('text/plain', 'version: 1'), 415, 'application/yaml'],
    [await post('application/yaml', `# ${'x'.repeat(1024 * 1024)}`), 413, 'send it as JSON'],
  ] as const) {
    expect(answer.status).toBe(status)
    expect(answer.body.detail).toContain(said)
  }
})

test('before any worker has published its jobs, schedules are taken and wait for one', async () => {
  await using api = await setupApi()
  const answer = await api.ask('/api/v1/schedules/apply', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fileOf({ a: EMAIL })),
  })
  expect(answer.body).toMatchObject({ added: ['a'] })
})
