import type { Redis } from 'ioredis'
import { outboxKey } from './keys.ts'
import { runFactLine } from './run-fact.ts'
import type { StartedRun } from './run-start.ts'

const MAX_FACTS = 500

/**
 * Writes that these runs, all of one queue, are running. Not fenced: should one have ended meanwhile,
 * its outcome has a higher revision.
 */
export async function announceRunning(
  deps: { redis: Redis; prefix: string; worker: string },
  queue: string,
  runs: readonly StartedRun[],
): Promise<void> {
  const { redis, prefix, worker } = deps
  const lines = runs.map((run) =>
    runFactLine(run, worker, { state: 'running', attemptState: 'running' }),
  )
  for (let from = 0; from < lines.length; from += MAX_FACTS) {
    const facts = lines.slice(from, from + MAX_FACTS).join('\n')
    await redis.xadd(outboxKey(prefix, queue), '*', 'facts', facts)
  }
}
