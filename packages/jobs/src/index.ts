import type { AnyJob } from '@jadwal/sdk'
import { createJobs } from './create-jobs.ts'
import { readSettings } from './settings.ts'

/**
 * The jobs that a worker serves unless `JADWAL_JOBS` names another module. Add your own here, or
 * point `JADWAL_JOBS` at a module that exports `jobs`.
 */
// A module of jobs is the composition root of its jobs: a user's own reads its environment too.
// oxlint-disable-next-line node/no-process-env
export const jobs: readonly AnyJob[] = createJobs(readSettings(process.env))
