import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { cronJob, takeCronJobs as take } from './cron-job.ts'
import { CASES, runCli } from './run-cli.ts'
import { readSchedules, refusedLines, runInProcess } from './run-in-process.ts'

test('takes over cronjobs.yaml to the letter', async () => {
  const ended = await runCli(['import', 'k8s', 'cronjobs.yaml'])
  expect(ended.report).toBe(await readFile(`${CASES}cronjobs.report.txt`, 'utf8'))
  expect(ended.output).toBe(await readFile(`${CASES}cronjobs.schedules.txt`, 'utf8'))
  expect(ended.exitCode).toBe(0)
  expect(readSchedules(ended.output)).toMatchObject([
    {
      name: 'nightly-index',
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      overlap: 'skip',
      misfire: { policy: 'once', after: 60_000, within: 200_000 },
      attempts: 5,
      timeoutMs: 1_800_000,
      payload: {
        command: '/app/index',
        args: ['--full', '--since', '24h'],
        env: { LOG_LEVEL: 'info' },
      },
      labels: { namespace: 'search' },
    },
    { name: 'ping', overlap: 'cancel-running', paused: true, timezone: 'UTC', attempts: 7 },
    { name: 'old-zone', overlap: 'allow', paused: false, cron: '0 1 * * *', timezone: 'UTC' },
  ])
})

test('several files become one schedule file, with a byte order mark and the line ends of Windows too', async () => {
  const files = {
    'a.yaml': `\uFEFFapiVersion: batch/v1\r\nkind: CronJob\r\nmetadata:\r\n  name: a\r\nspec:\r\n  schedule: "@midnight"\r\n  jobTemplate:\r\n    spec:\r\n      template:\r\n        spec:\r\n          containers:\r\n          - image: x\r\n            command: [/bin/a]\r\n`,
    'b.yaml': cronJob({ metadata: { name: 'b' }, spec: { schedule: '61 * * * *' } }),
  }
  const { exitCode, output, report } = await runInProcess(
    ['import', 'k8s', 'a.yaml', 'b.yaml'],
    '',
    files,
  )
  expect(exitCode).toBe(0)
  expect(readSchedules(output)).toMatchObject([{ name: 'a', cron: '@midnight' }])
  expect(refusedLines(report)).toEqual([
    'b.yaml:1: CronJob b',
    expect.stringContaining('spec.schedule ("61 * * * *"): minute "61"'),
  ])
})

test('one file that cannot be read gives exit code 1 and no schedule file', async () => {
  const files = { 'a.yaml': cronJob({}) }
  const ended = await runInProcess(['import', 'k8s', 'a.yaml', 'nowhere'], '', files)
  expect(ended).toEqual({
    exitCode: 1,
    output: '',
    report: 'jadwal: nowhere cannot be read: no such file\n',
  })
})

test.each([
  ['\tkind: CronJob', /line 1: it is no YAML: Tabs are not allowed/],
  ['a: b: c: d', /line 1: it is no YAML/],
  ['['.repeat(20_000), /it is no YAML|nested too deeply/],
])('what is no YAML gives exit code 1 (%#)', async (input, message) => {
  const { exitCode, output, report } = await runInProcess(['import', 'k8s', '-'], input)
  expect(exitCode).toBe(1)
  expect(output).toBe('')
  expect(report).toMatch(message)
})

test('lists are taken apart, other kinds and broken documents are reported and passed over', async () => {
  const { schedules, refused } = await take(`
kind: List
items:
  - ${cronJob({})}
  - { kind: CronJobList, apiVersion: batch/v1, items: [${cronJob({ metadata: { name: 'two' } })}] }
  - { kind: Deployment, metadata: { name: web } }
---
kind: CronJob
apiVersion: example.com/v1
metadata: { name: other }
---
# only a comment
---
{{ helm }}: [
---
just text
`)
  expect(schedules.map(({ name }) => name)).toEqual(['one', 'two'])
  expect(refused).toEqual([
    'standard input:6: Deployment web',
    'it is no CronJob: only those of batch/v1 are taken over',
    'standard input:8: CronJob other',
    'it is a CronJob of example.com/v1: only those of batch/v1 are taken over',
    expect.stringMatching(/^standard input:1[45]: /),
    expect.stringMatching(/^it is no YAML: /),
    'standard input:16: just text',
    'it is no map of keys to values',
  ])
})

test('keys that stand there twice are told, not the last one taken', async () => {
  const { refused } = await take(
    'kind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: "0 1 * * *"\n  schedule: "0 2 * * *"\n',
  )
  expect(refused).toEqual(['standard input:5: CronJob a', '"schedule" stands there twice'])
})

test('anchors and merge keys are followed, but not where they multiply or go in circles', async () => {
  const { schedules, refused } = await take(`
kind: List
items:
  - &base ${cronJob({})}
  - { <<: *base, metadata: { name: merged } }
  - *base
  - &list { kind: List, items: [*base, *list] }
  - *list
  - kind: CronJob
    a: &a [x, x, x, x, x, x, x, x, x, x]
    b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
    c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
`)
  expect(schedules.map(({ name }) => name)).toEqual(['one', 'merged', 'one-2', 'one-3'])
  expect(refused).toEqual([
    'standard input:7: - &list { kind: List, items: [*base, *list] }',
    'a list behind an alias is not followed',
    'standard input:8: - *list',
    'a list behind an alias is not followed',
    'standard input:9: - kind: CronJob',
    expect.stringContaining("its anchors can't be followed"),
  ])
})

test('an empty file is an empty schedule file', async () => {
  const { schedules, report } = await take('')
  expect(schedules).toEqual([])
  expect(report).toBe('standard input: 0 schedules taken over, 0 parts not.\n')
})
