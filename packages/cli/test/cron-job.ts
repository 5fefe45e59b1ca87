import { expect } from 'vitest'
import { readSchedules, refusedLines, runInProcess } from './run-in-process.ts'

export interface Parts {
  metadata?: object
  spec?: object
  job?: object
  pod?: object
  container?: object
}

/** A CronJob as JSON, which is YAML too. */
export function cronJob({ metadata, spec, job, pod, container }: Parts): string {
  const containers = [{ name: 'c', image: 'busybox', command: ['/bin/true'], ...container }]
  const template = { spec: { restartPolicy: 'Never', containers, ...pod } }
  return JSON.stringify({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'one', ...metadata },
    spec: { schedule: '0 1 * * *', jobTemplate: { spec: { template, ...job } }, ...spec },
  })
}

/** Runs the import on standard input. */
export async function takeCronJobs(input: string, ...options: string[]) {
  const { exitCode, output, report } = await runInProcess(['import', 'k8s', '-', ...options], input)
  expect(exitCode).toBe(0)
  return { schedules: readSchedules(output), output, report, refused: refusedLines(report) }
}
