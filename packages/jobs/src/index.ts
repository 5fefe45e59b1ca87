import type { AnyJob } from '@jadwal/sdk'
import { createJobs } from './create-jobs.ts'
import { readSettings } from './settings.ts'

export { createAlertJobs } from './create-alert-jobs.ts'
export { jobsEnv } from './settings.ts'

/**
 * The jobs that a worker serves unless `JADWAL_JOBS` names another module. Add your own here, or
 * point `JADWAL_JOBS` at a module that exports `jobs`.
 */
export const jobs: readonly AnyJob[] = createJobs(
  // A module of jobs is the composition root of its jobs: it reads what they need by itself.
  // oxlint-disable-next-line node/no-process-env
  readSettings(process.env),
)
