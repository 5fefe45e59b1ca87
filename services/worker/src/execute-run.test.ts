import { DAY, HOUR, type JobDescription } from '@jadwal/domain'
import type { StartedRun } from '@jadwal/queue'
import { expect, test } from 'vitest'
import { executeRun, type ExecuteDeps } from './execute-run.ts'

const NOW = Date.parse('2026-09-01T10:00:00Z')

/** A worker that knows no job, and what others have published. */
function workerBeside(published: Pick<JobDescription, 'queue'> | undefined): ExecuteDeps {
  const findJob = async () => published as JobDescription | undefined
  return { jobs: new Map(), findJob } as Partial<ExecuteDeps> as ExecuteDeps
}

/** One that is a day old, and that was left alone so long ago, or never. */
function runWaitingFor(ms?: number): StartedRun {
  const at = ms === undefined ? {} : { leftAloneSinceMs: NOW - ms }
  const run = { job: 'new.job', queue: 'mails', startedAtMs: NOW, dueAtMs: NOW - DAY, ...at }
  return run as Partial<StartedRun> as StartedRun
}

test('a run whose job only newer workers know waits for one of them', async () => {
  for (const ms of [undefined, 0, HOUR - 1]) {
    const end = await executeRun(workerBeside({ queue: 'mails' }), runWaitingFor(ms))
    expect(end).toMatchObject({ kind: 'left-alone' })
  }
})

test('it does not wait for a worker that never comes', async () => {
  const end = await executeRun(workerBeside({ queue: 'mails' }), runWaitingFor(HOUR))
  expect(end).toMatchObject({ kind: 'dead', reason: 'unknown-job' })
})

test('a job that moved to another queue, or that nobody knows, ends its run', async () => {
  const moved = await executeRun(workerBeside({ queue: 'letters' }), runWaitingFor(0))
  expect(moved).toMatchObject({
    kind: 'dead',
    error: { message: expect.stringContaining('letters') },
  })
  expect(await executeRun(workerBeside(undefined), runWaitingFor(0))).toMatchObject({
    kind: 'dead',
  })
})
