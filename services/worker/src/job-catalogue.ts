import { ALERTS_QUEUE } from '@jadwal/domain'
import { jobs as ownJobs } from '@jadwal/jobs'
import { ConfigError } from '@jadwal/runtime'
import type { AnyJob } from '@jadwal/sdk'
import { z } from 'zod'
import { withAlerts } from './alert-jobs.ts'
import { importJobs } from './jobs-module.ts'
import { allQueues, type ServedQueue } from './queue-list.ts'

const AJob = z.custom<AnyJob>((value) => {
  const job = value as Partial<AnyJob> | null | undefined
  return typeof job?.handler === 'function' && typeof job.name === 'string' && job.payload != null
}, 'is not a job: make it with defineJob')
const JobsModule = z
  .union([z.object({ jobs: z.array(AJob) }), z.object({ default: z.array(AJob) })])
  .transform((module) => ('jobs' in module ? module.jobs : module.default))

/**
 * The jobs of the module that `JADWAL_JOBS` names (a path, or a package), or those of Jadwal itself.
 * Throws `ConfigError` when it can't be loaded or exports no jobs.
 */
export async function loadJobs(module: string | undefined): Promise<readonly AnyJob[]> {
  if (module === undefined) return ownJobs
  const jobs = JobsModule.safeParse(await load(module))
  if (!jobs.success)
    throw wrongJobs(
      module,
      'must be a module that exports `jobs`, an array of jobs made with defineJob',
    )
  const names = jobs.data.map((job) => job.name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw wrongJobs(module, `must not define the job ${twice} twice`)
  return jobs.data
}

/** The queues to serve, that of alerts among them (see `withAlerts`). Throws `ConfigError` for one that no job of the catalogue is on. */
export function servedQueues(
  wanted: readonly ServedQueue[] | undefined,
  jobs: readonly AnyJob[],
): readonly ServedQueue[] {
  const known = allQueues(jobs.map((job) => job.queue))
  const names = known.map((queue) => queue.name)
  const unknown = wanted?.filter(({ name }) => name !== ALERTS_QUEUE && !names.includes(name)) ?? []
  if (unknown.length === 0) return withAlerts(wanted ?? known, wanted)
  throw new ConfigError([
    {
      variable: 'JADWAL_QUEUES',
      value: unknown.map((queue) => queue.name).join(','),
      problem: `must name queues of the catalogue (${names.join(', ')})`,
    },
  ])
}

/** Throws `ConfigError` when any of the jobs wants its payloads encrypted: there are no keys. */
export function requireKeysFor(jobs: readonly AnyJob[]): void {
  const names = jobs.filter(({ encrypt }) => encrypt).map(({ name }) => name)
  if (names.length === 0) return
  throw new ConfigError([
    {
      variable: 'JADWAL_ENCRYPTION_KEYS',
      problem: `must be set: this worker serves jobs whose payloads are encrypted (${names.join(', ')})`,
    },
  ])
}

async function load(module: string): Promise<unknown> {
  try {
    return await importJobs(module)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw wrongJobs(module, `must be a module that can be loaded (${reason})`)
  }
}

function wrongJobs(value: string, problem: string): ConfigError {
  return new ConfigError([{ variable: 'JADWAL_JOBS', value, problem }])
}
