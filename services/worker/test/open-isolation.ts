import { fileURLToPath } from 'node:url'
import { systemClock } from '@jadwal/domain'
import type { StartedRun } from '@jadwal/queue'
import { createLogger } from '@jadwal/runtime'
import type { AnyJob, Isolation } from '@jadwal/sdk'
import type { AttemptEnd, ChildBatch, ChildOutlet } from '@jadwal/sdk/attempts'
import { AttemptsInHand } from '../src/attempts-in-hand.ts'
import { ChildPool, type ChildPoolOptions } from '../src/isolation/child-pool.ts'
import { isolatedJob } from '../src/isolation/isolated-job.ts'
import { loadJobs } from '../src/job-catalogue.ts'

const CHILD_FILE = new URL('../dist/child.js', import.meta.url)
const JOBS = 'isolated-jobs.mjs'

interface Options extends Partial<ChildPoolOptions> {
  /** The module of jobs that the children load, in fixtures/. */
  jobs?: string
}

/** Children of a pool of the test's own that make the jobs in fixtures/. */
export function openIsolation(isolate: Isolation, options: Options = {}) {
  const log = createLogger('worker', 'silent', 'test')
  const env = { JADWAL_JOBS: fixture(options.jobs ?? JOBS), ...options.env }
  const pool = new ChildPool({ file: CHILD_FILE, log, ...options, env })
  const sent: ChildBatch[] = []
  const progress: unknown[] = []
  const outlet: ChildOutlet = {
    find: (name) =>
      Promise.resolve({ queue: `queue-of-${name}`, rules: {}, check: () => Promise.resolve() }),
    send: (batch) => {
      sent.push(batch)
      return Promise.resolve(batch.payloads.map((_, i) => `${batch.job.name}-${i}`))
    },
  }
  const attempts = new AttemptsInHand({ clock: systemClock, log, children: outlet })
  let runs = 0

  return {
    pool,
    attempts,
    sent,
    progress,
    [Symbol.asyncDispose]: () => pool.close(),
    /** Makes an attempt of a job; `more` goes before what the job says. */
    make: async (
      name: string,
      payload: unknown = {},
      more: Partial<AnyJob> & { message?: object } = {},
    ): Promise<AttemptEnd & { log: unknown[] }> => {
      const job = (await loadJobs(fixture(JOBS))).find((each) => each.name === name)
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

function fixture(file: string): string {
  return fileURLToPath(new URL(`fixtures/${file}`, import.meta.url))
}
