import { fileURLToPath } from 'node:url'
import { systemClock } from '@jadwal/domain'
import type { StartedRun } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import type { AnyJob, Isolation } from '@jadwal/sdk'
import type { AttemptEnd, ChildBatch, ChildOutlet } from '@jadwal/sdk/attempts'
import { onTestFinished } from 'vitest'
import { AttemptsInHand } from '../src/attempts-in-hand.ts'
import { ChildPool, type ChildPoolOptions } from '../src/isolation/child-pool.ts'
import { isolatedJob } from '../src/isolation/isolated-job.ts'
import { loadJobs } from '../src/job-catalogue.ts'

const CHILD_FILE = new URL('../dist/child.js', import.meta.url)
const JOBS_FILE = fileURLToPath(new URL('fixtures/isolated-jobs.mjs', import.meta.url))

/** Children of a pool of the test's own that make the jobs in fixtures/. */
export function openIsolation(isolate: Isolation, options: Partial<ChildPoolOptions> = {}) {
  const log = createLogger('worker', 'silent', 'test')
  const env = { PATH: process.env['PATH'], JADWAL_JOBS: JOBS_FILE, ...options.env }
  const pool = new ChildPool({ file: CHILD_FILE, log, ...options, env })
  onTestFinished(() => pool.close())
  const sent: ChildBatch[] = []
  const progress: unknown[] = []
  const outlet: ChildOutlet = {
    find: (name) => Promise.resolve({ queue: `queue-of-${name}`, check: () => Promise.resolve() }),
    send: (batch) => {
      sent.push(batch)
      return Promise.resolve(batch.payloads.map((_, i) => `${batch.job.name}-${i}`))
    },
  }
  const attempts = new AttemptsInHand(systemClock, log, outlet)
  let runs = 0

  return {
    pool,
    attempts,
    sent,
    progress,
    /** Makes an attempt of a job; `more` goes before what the job says. */
    async make(
      name: string,
      payload: unknown = {},
      more: Partial<AnyJob> & { message?: object } = {},
    ): Promise<AttemptEnd & { log: unknown[] }> {
      const job = (await loadJobs(JOBS_FILE)).find((each) => each.name === name)
      if (!job) throw new Error(`no job ${name} in fixtures/`)
      const { message, ...changes } = more
      runs += 1
      const run = {
        id: `run-${runs}`,
        attempt: 1,
        message: { v: 1, payload, ...message },
        progress: (value: unknown) => {
          if (JSON.stringify(value) === '{"fail":true}') return Promise.reject(new Error('refused'))
          progress.push(value)
          return Promise.resolve()
        },
      } as Partial<StartedRun> as StartedRun
      const isolated = isolatedJob({ ...job, isolate, ...changes }, { pool, clock: systemClock })
      const end = await attempts.make(run, isolated, { payload, mask: undefined })
      return { ...end, log: JSON.parse(run.log ?? '[]') as unknown[] }
    },
  }
}
