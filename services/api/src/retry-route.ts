import type { RunView } from '@jadwal/db'
import { retryNow } from '@jadwal/queue'
import type { RequestHandler, Response } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import type { Endpoints } from './endpoints.ts'
import { Problem } from './problem.ts'
import { requireRun } from './require-run.ts'
import { retryRunDoc } from './runs-docs.ts'
import { redriveById, type Settling } from './settle-by-id.ts'

/** `/runs/{id}/retry`: a run that waits for its next attempt is made now, a dead one anew. */
export function addRetryRoute(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/runs/:id/retry', {
    post: { role: 'operator', doc: retryRunDoc, handle: retryHandler(deps) },
  })
}

function retryHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const retried = await retryRun(deps, res, await requireRun(deps, req.params['id']))
    res.status(202).location(`/api/v1/runs/${retried.id}`).json(retried)
  }
}

/** What a retry leads to: the run itself, or the new one of a dead letter. */
interface RetriedRun {
  id: string
  state: 'queued' | 'retrying'
  redriveOf?: string
}

/**
 * Makes a run that waits for a retry now, and a dead one anew, for who makes the request that is
 * answered with `res`. Throws a `Problem` for any other.
 */
export async function retryRun(
  deps: ApiDeps,
  res: Response,
  { id, queue, state }: Pick<RunView, 'id' | 'queue' | 'state'>,
): Promise<RetriedRun> {
  if (state === 'dead') {
    const { items, before } = await redriveById(deps, [id], callerOf(res).name)
    const redrivenAs = newRun(items[0])
    noteChange(res, { before: before[0], after: items[0] })
    return { id: redrivenAs, state: 'queued', redriveOf: id }
  }
  if (state !== 'retrying') throw notRetrying(`The run is ${state}`)
  const { redis, prefix } = deps
  const due = await askRedis(() => retryNow(redis, prefix, { queue, id }))
  if (!due) throw notRetrying('The run has just been taken up, or is parked')
  noteChange(res, { before: { state, runAt: due.before }, after: { state, runAt: due.after } })
  return { id, state }
}

/** Throws a `Problem` when there is none. */
function newRun(settling: Settling | undefined): string {
  if (settling && 'redrivenAs' in settling) return settling.redrivenAs
  const { refused, detail } =
    settling && 'refused' in settling
      ? settling
      : { refused: 'not-found', detail: 'There is no dead letter of this run.' }
  if (refused === 'discarded') throw new Problem('letter-discarded', { detail })
  if (refused === 'unknown-job') throw new Problem('unknown-job', { detail })
  if (refused === 'history-unavailable') throw new Problem('history-unavailable', { detail })
  throw notRetrying(detail.replace(/\.$/, ''))
}

function notRetrying(detail: string): Problem {
  return new Problem('not-retrying', {
    detail: `${detail}: only a run that waits for a retry, or is dead, can be retried.`,
  })
}
