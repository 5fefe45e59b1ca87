import type { RunEnd, StartedRun } from '@jadwal/queue'
import type { AnyJob } from '@jadwal/sdk'
import type { AttemptsInHand } from './attempts-in-hand.ts'
import { checkPayload } from './check-payload.ts'
import { judgeAttempt } from './judge-attempt.ts'

export interface ExecuteDeps {
  jobs: ReadonlyMap<string, AnyJob>
  secrets: ReadonlyMap<string, string>
  attempts: AttemptsInHand
  /** In [0, 1); for the jitter of retries. */
  random: () => number
}

/** Makes one attempt at a run: job, payload, handler, and what its end means. Never rejects. */
export async function executeRun(deps: ExecuteDeps, run: StartedRun): Promise<RunEnd> {
  const job = deps.jobs.get(run.job)
  if (!job || job.queue !== run.queue) return unknownJob(run)
  const checking = checkPayload(run, job, deps.secrets)
  const checked = checking instanceof Promise ? await checking : checking
  if ('refused' in checked) return checked.refused
  const end = await deps.attempts.make(run, job, checked.payload)
  return judgeAttempt({ run, job }, end, deps.random())
}

function unknownJob(run: StartedRun): RunEnd {
  return {
    kind: 'dead',
    reason: 'unknown-job',
    error: {
      name: 'UnknownJobError',
      code: 'UNKNOWN_JOB',
      message: `no job ${JSON.stringify(run.job)} is served from the queue ${run.queue}`,
    },
  }
}
