import type { Redis } from 'ioredis'
import { ID_MS } from './claim-script.ts'
import { idHomeKey } from './keys.ts'
import type { RunDraft } from './run-draft.ts'
import { ClaimedOtherwise } from './send-claimed.ts'

/**
 * Claims the ids that clients made for the queues of their runs, before the runs are claimed in their
 * queues. Throws `ClaimedOtherwise` when one of them is of a run of another queue; a claim that was made
 * by then stays, as it keeps nobody from sending the same run again.
 */
export async function claimIds(
  redis: Redis,
  prefix: string,
  drafts: readonly RunDraft[],
): Promise<void> {
  const own = drafts.filter(hasOwnId)
  const pipeline = redis.pipeline()
  for (const { id, queue } of own)
    pipeline.set(idHomeKey(prefix, id), queue, 'PX', ID_MS, 'NX', 'GET')
  const replies = (await pipeline.exec()) ?? []
  for (const [at, draft] of own.entries()) {
    const [error, home] = replies[at] ?? []
    if (error) throw error
    if (typeof home !== 'string' || home === draft.queue) continue
    const problem = `belongs to a run of the queue ${JSON.stringify(home)}`
    throw new ClaimedOtherwise(draft, { field: 'id', runId: draft.id, problem })
  }
}

export function hasOwnId({ claim }: RunDraft): boolean {
  return claim?.byId === true
}
