import { expect, test } from 'vitest'
import { cronJob, takeCronJobs as take } from './cron-job.ts'

test.each([
  [{ spec: { schedule: undefined } }, 'spec.schedule is missing; write one such as "30 2 * * *"'],
  [{ spec: { schedule: 5 } }, 'spec.schedule (5): must be a text'],
  [{ spec: { schedule: '0 0 1 * * *' } }, 'spec.schedule ("0 0 1 * * *"): has 6 fields'],
  [{ spec: { schedule: '0 0 30 2 *' } }, 'never fires'],
  [{ spec: { schedule: '@reboot' } }, 'means the start of a machine'],
  [{ spec: { schedule: '@every 5 minutes' } }, '"5 minutes" is no duration such as 1h30m'],
  [{ spec: { schedule: 'TZ=Mars/Base 0 1 * * *' } }, '"Mars/Base" is no IANA time zone'],
  [{ spec: { timeZone: 'Local' } }, 'spec.timeZone ("Local"): is no IANA time zone'],
  [{ spec: { schedule: 'TZ=UTC 0 1 * * *', timeZone: 'Asia/Tokyo' } }, 'its zone is not that'],
  [{ spec: { concurrencyPolicy: 'forbid' } }, 'must be Allow, Forbid or Replace'],
  [{ spec: { startingDeadlineSeconds: -1 } }, 'must be a whole number, 0 or more'],
  [{ spec: { suspend: 'maybe' } }, 'spec.suspend ("maybe"): must be true or false'],
  [{ spec: { jobTemplate: [] } }, 'spec.jobTemplate ([]): must be a map of keys to values'],
  [{ spec: { jobTemplate: null } }, 'spec.jobTemplate is missing'],
  [{ job: { backoffLimit: '4' } }, 'spec.jobTemplate.spec.backoffLimit ("4"): must be a whole'],
  [{ pod: { containers: [] } }, 'spec.jobTemplate.spec.template.spec.containers is missing'],
  [{ container: { command: '/bin/x' } }, 'containers[0].command ("/bin/x"): must be a list of'],
  [{ container: { args: [1] } }, 'must be a list of texts'],
  [{ container: { env: [{ value: 'x' }] } }, 'env[0].name is missing'],
  [{ metadata: { name: undefined } }, 'metadata.name is missing'],
  [{ container: { args: ['x'.repeat(70_000)] } }, 'at most 65536 are allowed'],
])('%j is not taken over', async (parts, why) => {
  const { schedules, refused } = await take(cronJob(parts))
  expect(schedules).toEqual([])
  expect(refused[0]).toMatch(/^standard input:1: CronJob/)
  expect(refused[1]).toContain(why)
})

test.each([
  [0, { after: 1_000, within: 1_000 }],
  [30, { after: 30_000, within: 30_000 }],
  [600, { after: 60_000, within: 600_000 }],
])('startingDeadlineSeconds %i bounds the misfire', async (startingDeadlineSeconds, misfire) => {
  const { schedules } = await take(cronJob({ spec: { startingDeadlineSeconds } }))
  expect(schedules).toMatchObject([{ misfire: { policy: 'once', ...misfire } }])
})

test.each([
  ['@every 1h30m', { every: 5_400_000 }],
  ['@every 100ms', { every: 1_000 }],
  ['@hourly', { cron: '@hourly' }],
  ['TZ=Asia/Tokyo 0 9 * * mon', { cron: '0 9 * * mon', timezone: 'Asia/Tokyo' }],
  ['0 0 */2 * 1', { cron: '0 0 1-31/2 * 1' }],
])('the schedule %s is understood as Kubernetes does', async (schedule, spec) => {
  const { schedules } = await take(cronJob({ spec: { schedule } }))
  expect(schedules).toMatchObject([
    { timezone: 'UTC', dst: { gap: 'skip', fold: 'twice' }, ...spec },
  ])
})

test('CronJobs without a zone are read in the zone that is given', async () => {
  const { schedules, report } = await take(cronJob({}), '--timezone', 'Asia/Tokyo')
  expect(schedules).toMatchObject([{ timezone: 'Asia/Tokyo' }])
  expect(report).not.toContain('kube-controller-manager')
})

test('names that collide bear their namespace, then a number', async () => {
  const namespaces = ['', 'b', 'b']
  const input = namespaces.map((namespace) => cronJob({ metadata: { namespace } })).join('\n---\n')
  const { schedules, report } = await take(input)
  expect(schedules.map(({ name }) => name)).toEqual(['one', 'b.one', 'b.one-2'])
  expect(report).toContain('standard input:5: b.one-2: the CronJob one became the schedule b.one-2')
})

test('labels are kept, with the namespace', async () => {
  const labels = { app: 'shop', namespace: 'no', long: 'x'.repeat(201), ['k'.repeat(101)]: 'v' }
  const { schedules, refused } = await take(cronJob({ metadata: { namespace: 'prod', labels } }))
  expect(schedules).toMatchObject([{ labels: { app: 'shop', namespace: 'prod' } }])
  expect(refused.filter((line) => line.includes('one: label '))).toHaveLength(3)
})

function from(name: string, key: string) {
  return { valueFrom: { secretKeyRef: { name, key } } }
}

test('values of Secrets become secrets of the worker, one name for one key', async () => {
  const env = [
    { name: 'PLAIN', value: 'x$$y-$(NOPE)' },
    { name: 'URL', value: 'db://$(PLAIN)' },
    { name: 'PASSWORD', ...from('db', 'password') },
    { name: 'AGAIN', ...from('db', 'password') },
    { name: 'OTHER', ...from('d.b', 'password') },
    { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  ]
  const command = ['/bin/app', '$(URL)', '--pw=$(PASSWORD)']
  const { schedules, report, refused } = await take(
    cronJob({ metadata: { namespace: 'prod' }, container: { env, command } }),
  )
  expect(schedules).toMatchObject([
    {
      payload: {
        args: ['db://x$y-$(NOPE)', '--pw=$(PASSWORD)'],
        env: {
          PLAIN: 'x$y-$(NOPE)',
          PASSWORD: { secret: 'PROD_DB_PASSWORD' },
          AGAIN: { secret: 'PROD_DB_PASSWORD' },
          OTHER: { secret: 'PROD_D_B_PASSWORD' },
        },
      },
    },
  ])
  expect(report).toContain('to the workers as JADWAL_SECRET_PROD_DB_PASSWORD')
  expect(refused).toContain('standard input:1: one: env NODE from fieldRef')
  expect(refused).toContain('standard input:1: one: $(PASSWORD) in the command')
})

test('what has no counterpart is told field by field, what kubectl fills in is not', async () => {
  const { schedules, refused } = await take(
    cronJob({
      metadata: { uid: 'u', creationTimestamp: null, annotations: { a: 'b' } },
      spec: { concurencyPolicy: 'Forbid' },
      job: { parallelism: 3, completions: 1, ttlSecondsAfterFinished: 60 },
      pod: {
        dnsPolicy: 'ClusterFirst',
        securityContext: {},
        volumes: [{ name: 'v', emptyDir: {} }],
        initContainers: [{ name: 'i' }],
        containers: [
          { image: 'a', command: ['/bin/a'], envFrom: [{ secretRef: { name: 's' } }] },
          { name: 'side', image: 'b' },
        ],
      },
    }),
  )
  expect(schedules).toMatchObject([{ payload: { command: '/bin/a' } }])
  const texts = refused.filter((line) => line.startsWith('standard input:1: one: '))
  expect(texts.map((line) => line.slice('standard input:1: one: '.length))).toEqual([
    'container side: b',
    'metadata.annotations: {"a":"b"}',
    'spec.concurencyPolicy: Forbid',
    'spec.jobTemplate.spec.parallelism: 3',
    'spec.jobTemplate.spec.ttlSecondsAfterFinished: 60',
    'spec.jobTemplate.spec.template.spec.volumes: [{"name":"v","emptyDir":{}}]',
    'spec.jobTemplate.spec.template.spec.initContainers: [{"name":"i"}]',
    'spec.jobTemplate.spec.template.spec.containers[0].envFrom: [{"secretRef":{"name":"s"}}]',
  ])
})

test('limits that Jadwal does not go up to are told', async () => {
  const { schedules, report } = await take(
    cronJob({
      job: { backoffLimit: 5_000, activeDeadlineSeconds: 60 },
      pod: { activeDeadlineSeconds: 1e7 },
    }),
  )
  expect(schedules).toMatchObject([{ attempts: 1_000, timeoutMs: 7 * 86_400_000 }])
  expect(report).toContain('backoffLimit 5000 became 1000 attempts')
  expect(report).toContain('activeDeadlineSeconds 10000000 became 7 days')
})
