import { listRecordedIds } from '@jadwal/db'
import {
  idsWithMessage,
  IdempotencyConflictError,
  listQueues,
  type RunRequest,
  unclaimed,
} from '@jadwal/queue'
import type { ApiDeps } from './api-deps.ts'
import { askHistoryIfThere, askRedis } from './ask.ts'

interface OwnId {
  id: string
  queue: string
  /** The position of its run among many. */
  index: number
}

/**
 * Refuses ids that are of a run which was not enqueued with them: one that Jadwal made, or a tick's. What
 * a client has claimed is left to the producer, who knows whether it is the same run. Costs nothing
 * where no id is given; goes without the history while Postgres is away. Throws
 * `IdempotencyConflictError`, or a `Problem` when Redis is away.
 */
export async function checkOwnIds(deps: ApiDeps, requests: readonly RunRequest[]): Promise<void> {
  const own = requests.flatMap(({ job, options }, index): OwnId[] =>
    options?.id === undefined ? [] : [{ id: options.id, queue: job.queue, index }],
  )
  if (own.length === 0) return
  const { redis, prefix } = deps
  const free = await askRedis(() => unclaimed(redis, prefix, own))
  const known = await knownIds(
    deps,
    free.map(({ id }) => id),
  )
  if (known.size === 0) return
  // What came into being meanwhile was claimed before it had a message.
  const stillFree = await askRedis(() => unclaimed(redis, prefix, free))
  const taken = stillFree.find(({ id }) => known.has(id))
  if (!taken) return
  const { id, index } = taken
  const problem = 'is of a run that was not enqueued with it'
  throw new IdempotencyConflictError({ field: 'id', value: id, runId: id, index, problem })
}

async function knownIds(deps: ApiDeps, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { db, redis, prefix } = deps
  const live = await askRedis(async () =>
    idsWithMessage(redis, prefix, { ids, queues: await listQueues(redis, prefix) }),
  )
  // A run goes from Redis to Postgres: one that has left there meanwhile is met here.
  const recorded = await askHistoryIfThere(() => listRecordedIds(db, ids))
  return new Set([...live, ...(recorded ?? [])])
}
