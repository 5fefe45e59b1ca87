import type { Clock } from '@jadwal/domain'
import type { Lifecycle, Logger } from '@jadwal/runtime'
import type { AnyJob } from '@jadwal/sdk'
import { Gauge, type Registry } from 'prom-client'
import { ChildPool } from './isolation/child-pool.ts'
import { isolatedJob } from './isolation/isolated-job.ts'

/** The bundle that children run: beside this file's bundle, and where its source finds it too. */
const CHILD_FILE = new URL('../dist/child.js', import.meta.url)
const ISOLATIONS = ['thread', 'process'] as const

export interface IsolationParts {
  /** The environment of the children. */
  env: Readonly<NodeJS.ProcessEnv>
  log: Logger
  clock: Clock
  registry: Registry
  lifecycle: Lifecycle
}

/** The jobs, of which children make those that are to be isolated. Where none is, nothing is set up. */
export function isolateJobs(jobs: readonly AnyJob[], parts: IsolationParts): readonly AnyJob[] {
  if (jobs.every(({ isolate }) => isolate === undefined)) return jobs
  const { env, log, clock, registry, lifecycle } = parts
  const pool = new ChildPool({ file: CHILD_FILE, env, log })
  lifecycle.onClose('children', () => pool.close())
  const living = new Gauge({
    name: 'jadwal_children',
    help: 'Threads and processes that make isolated attempts, or wait for one.',
    labelNames: ['isolate'],
    registers: [],
    collect() {
      for (const isolate of ISOLATIONS) this.set({ isolate }, pool.count(isolate))
    },
  })
  registry.registerMetric(living)
  return jobs.map((job) => isolatedJob(job, { pool, clock }))
}
