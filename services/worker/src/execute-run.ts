import { HOUR, type JobDescription } from '@jadwal/domain'
import type { FuseWatch, PayloadCipher, RunEnd, StartedRun } from '@jadwal/queue'
import type { AnyJob } from '@jadwal/sdk'
import { checkPayload, judgeAttempt } from '@jadwal/sdk/attempts'
import type { AttemptsInHand } from './attempts-in-hand.ts'
import { awaitTurn, type TakeSlot } from './key-limit.ts'
import { openRun, sealedEnd } from './sealed-run.ts'

/** How long a run waits for a worker that knows its job, before it is looked at again. */
const UNKNOWN_HERE_MS = 5_000
/** After this long, since it was first left alone, no worker is going to come that knows it: no roll-out takes as long. */
const WAITS_FOR_A_WORKER_MS = HOUR

export interface ExecuteDeps {
  jobs: ReadonlyMap<string, AnyJob>
  /** Looks a job up in what all workers have published. */
  findJob: (name: string) => Promise<JobDescription | undefined>
  secrets: ReadonlyMap<string, string>
  /** Opens encrypted payloads. */
  cipher: PayloadCipher | undefined
  attempts: AttemptsInHand
  /** Says whether a run may be made by the fuse of its job; undefined: yes. */
  fuses: Pick<FuseWatch, 'admit'>
  /** Asked only for runs of jobs that limit how many of a key run at once. */
  takeSlot: TakeSlot
  /** In [0, 1); for the jitter of retries. */
  random: () => number
}

/** Makes one attempt at a run: job, payload, handler, and what its end means. Never rejects. */
export async function executeRun(deps: ExecuteDeps, run: StartedRun): Promise<RunEnd> {
  const job = deps.jobs.get(run.job)
  // A parked run that was let out has its slot before its key is known.
  if (!job || job.concurrency) run.mayHaveSlot = true
  if (!job || job.queue !== run.queue) return unknownJob(deps, run)
  const admitting = deps.fuses.admit(run)
  const admitted = admitting ? await admitting : 'go'
  if (admitted !== 'go') return { kind: admitted }
  const opened = openRun(run, job, deps.cipher)
  if ('refused' in opened) return opened.refused
  const checking = checkPayload(opened, job, deps.secrets)
  const checked = checking instanceof Promise ? await checking : checking
  if ('refused' in checked) return checked.refused
  const { mask } = checked
  if (job.concurrency) {
    const turn = await awaitTurn(deps.takeSlot, run, {
      name: job.name,
      concurrency: job.concurrency,
      input: checked,
    })
    if (turn.kind === 'threw') return judgeAttempt({ run, job, mask }, turn, deps.random())
    if (turn.kind !== 'go') return turn
  }
  const end = await deps.attempts.make(run, job, checked)
  return sealedEnd(run, judgeAttempt({ run, job, mask }, end, deps.random()))
}

/**
 * While a new version is rolled out, only some workers know what it adds: as long as the catalogue has
 * the job on this queue, another worker can do it. The catalogue never forgets a job, so the wait has
 * an end. Nothing is known when it can't be read.
 */
async function unknownJob(deps: ExecuteDeps, run: StartedRun): Promise<RunEnd> {
  const leftAlone = { kind: 'left-alone', delayMs: UNKNOWN_HERE_MS } as const
  let published: JobDescription | undefined
  try {
    published = await deps.findJob(run.job)
    run.rules = published
  } catch {
    return leftAlone
  }
  const waitedMs = run.startedAtMs - (run.leftAloneSinceMs ?? run.startedAtMs)
  const waits = waitedMs < WAITS_FOR_A_WORKER_MS
  if (published?.queue === run.queue && waits) return leftAlone
  const job = JSON.stringify(run.job)
  const message =
    published && published.queue !== run.queue
      ? `the job ${job} is served from the queue ${published.queue} now, no longer from ${run.queue}`
      : `no job ${job} is served from the queue ${run.queue}`
  return {
    kind: 'dead',
    reason: 'unknown-job',
    error: { name: 'UnknownJobError', code: 'UNKNOWN_JOB', message },
  }
}
