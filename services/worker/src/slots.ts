import { type LotDeps, LotTender, takeSlot } from '@jadwal/queue'
import type { AnyJob } from '@jadwal/sdk'
import type { TakeSlot } from './key-limit.ts'
import type { LoopDeps } from './worker-loops.ts'

/** Workers do not look at the same time, so that each has its turn to say what it knows of limits. */
const TEND_MS = [8_000, 12_000] as const

/** Takes slots for the runs of all queues. A run that can't be asked for is left for who takes it up next. */
export function slotTaker(deps: Omit<LotDeps, 'queue'>): TakeSlot {
  return async (run, slot) => {
    try {
      return await takeSlot({ ...deps, queue: run.queue }, run, slot)
    } catch (error) {
      deps.onError(error instanceof Error ? error : new Error(String(error)))
      return 'lost'
    }
  }
}

/** Lets parked runs start that nobody else lets, about each 10 s. */
export function tendLots(
  deps: Pick<LoopDeps, 'redis' | 'prefix' | 'queues' | 'log'> & {
    jobs: ReadonlyMap<string, AnyJob>
  },
): () => Promise<number> {
  const { redis, prefix, queues, jobs, log } = deps
  const tenders = queues.map(({ name: queue }) => {
    const limitOf = (name: string): number | 'none' | undefined => {
      const job = jobs.get(name)
      return job?.queue === queue ? (job.concurrency?.limit ?? 'none') : undefined
    }
    return { queue, tender: new LotTender({ redis, prefix, queue, limitOf }) }
  })
  const [least, most] = TEND_MS
  return async () => {
    for (const { queue, tender } of tenders) {
      const runs = await tender.tend()
      if (runs > 0) log.info({ queue, runs }, 'parked runs let start that had no slot')
    }
    return least + Math.random() * (most - least)
  }
}
