import type { Redis } from 'ioredis'
import type { FuseState } from './fuse-script.ts'
import { fuseKey, fuseLot, parkedKey } from './keys.ts'

export interface FuseView {
  state: FuseState
  /** ISO 8601; of an open fuse: when a run is let through as a probe. */
  openUntil?: string
  /** Runs that wait for it. Some of them may have been cancelled meanwhile. */
  parked: number
}

/** How the fuses of these jobs stand, in one round trip. */
export async function readFuses(
  redis: Redis,
  prefix: string,
  jobs: readonly { name: string; queue: string }[],
): Promise<FuseView[]> {
  if (jobs.length === 0) return []
  const pipeline = redis.pipeline()
  for (const { name, queue } of jobs) {
    pipeline.hmget(fuseKey(prefix, queue, name), 'state', 'until')
    pipeline.llen(parkedKey(prefix, queue, fuseLot(name)))
  }
  const replies = ((await pipeline.exec()) ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
  return jobs.map((_, at) => {
    const [state, until] = replies[at * 2] as (string | null)[]
    const parked = replies[at * 2 + 1] as number
    if (state === 'open') return { state, openUntil: new Date(Number(until)).toISOString(), parked }
    return { state: state === 'probing' ? state : 'closed', parked }
  })
}
