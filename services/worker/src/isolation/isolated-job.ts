import type { Clock } from '@jadwal/domain'
import type { AnyJob, JobContext } from '@jadwal/sdk'
import { Attempt } from '@jadwal/sdk/attempts'
import type { ChildKind } from './child.ts'
import type { ChildPool } from './child-pool.ts'
import { IsolatedAttempt } from './isolated-attempt.ts'
import type { AttemptOfChild } from './messages.ts'

/** The heap of a child whose job names no limit, in MiB. */
const DEFAULT_MEMORY_MB = 512

export interface IsolationDeps {
  pool: ChildPool
  clock: Clock
}

/** The job with a handler that lets a child make the attempt; the job itself if it is not isolated. */
export function isolatedJob(job: AnyJob, deps: IsolationDeps): AnyJob {
  if (job.isolate === undefined) return job
  const kind: ChildKind = { isolate: job.isolate, memoryMb: job.memoryMb ?? DEFAULT_MEMORY_MB }
  return {
    ...job,
    handler: (payload, ctx) => {
      const { runId, attempt, tickAt, schedule, parentId } = ctx
      const facts = {
        job: job.name,
        payload,
        runId,
        attempt,
        ...(tickAt === undefined ? {} : { tickAt }),
        ...(schedule === undefined ? {} : { schedule }),
        ...(parentId === undefined ? {} : { parentId }),
      }
      return attemptInChild({ ...deps, kind, attempt: facts }, ctx)
    },
  }
}

async function attemptInChild(
  { pool, clock, kind, attempt }: IsolationDeps & { kind: ChildKind; attempt: AttemptOfChild },
  ctx: JobContext,
): Promise<unknown> {
  const child = pool.takeIdle(kind) ?? (await started(pool, kind, { ctx, clock }))
  const graceEndMs = (): number => (ctx instanceof Attempt ? ctx.nextCheckMs : Infinity)
  try {
    return await new IsolatedAttempt({ child, attempt, ctx, clock, graceEndMs }).make()
  } finally {
    pool.giveBack(child)
  }
}

/** The time that a start takes is not the handler's. */
async function started(
  pool: ChildPool,
  kind: ChildKind,
  { ctx, clock }: { ctx: JobContext; clock: Clock },
) {
  if (!(ctx instanceof Attempt)) return pool.start(kind, ctx.signal)
  ctx.stopClock()
  const child = await pool.start(kind, ctx.signal)
  ctx.startClock(clock.monotonicMs())
  return child
}
