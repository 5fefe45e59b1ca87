import { setTimeout as delay } from 'node:timers/promises'
import { newRunId, type RunId } from '@jadwal/domain'
import { type Producer, RedisUnavailableError, TryLaterError } from '@jadwal/queue'
import { randomBytes } from 'node:crypto'
import type { Ask } from './api-client.ts'
import { JOBS } from './system.ts'

const EACH_MS = 100
const AGAIN_MS = 200
const HOUR_MS = 3_600_000

export interface LightLoad {
  /** Runs that were taken, by what is to become of them. */
  readonly accepted: Readonly<Record<'succeeded' | 'dead' | 'cancelled', string[]>>
  /** How often a producer was turned away, by the name of the error. */
  readonly turnedAway: Readonly<Record<string, number>>
  /** Resolves when all that was asked for is taken. */
  stop(): Promise<void>
}

/**
 * Ten runs a second: most work for a moment, some always fail, some are delayed and then cancelled over
 * the api. Whoever is turned away asks again with the same id, as an app is told to do. Any error but
 * the two that an app is told of rejects `stop`.
 */
export function startLoad({ producer, ask }: { producer: Producer; ask: Ask }): LightLoad {
  const accepted = { succeeded: [] as string[], dead: [] as string[], cancelled: [] as string[] }
  const turnedAway: Record<string, number> = {}
  const stopped = new AbortController()
  const asked: Promise<void>[] = []

  async function enqueue(job: { name: string; queue: string }, payload: object, delayMs = 0) {
    const id: RunId = newRunId(Date.now(), randomBytes(10))
    for (;;) {
      try {
        await producer.enqueue(job, payload, { id, delayMs })
        return id
      } catch (error) {
        if (!(error instanceof RedisUnavailableError || error instanceof TryLaterError)) throw error
        turnedAway[error.name] = (turnedAway[error.name] ?? 0) + 1
        await delay(AGAIN_MS)
      }
    }
  }
  async function cancel(id: string): Promise<void> {
    // 409: an earlier try has ended it, and its answer was lost.
    while (![202, 409].includes((await ask('POST', `/runs/${id}/cancel`)).status))
      await delay(AGAIN_MS)
  }
  async function one(n: number): Promise<void> {
    if (n % 10 === 3) accepted.dead.push(await enqueue(JOBS.fail, {}))
    else if (n % 10 === 6) {
      const id = await enqueue(JOBS.rest, { ms: 0 }, HOUR_MS)
      await cancel(id)
      accepted.cancelled.push(id)
    } else accepted.succeeded.push(await enqueue(JOBS.rest, { ms: n % 10 === 9 ? 500 : 5 }))
  }
  async function go(): Promise<void> {
    for (let n = 0; !stopped.signal.aborted; n += 1) {
      const run = one(n)
      run.catch(() => stopped.abort())
      asked.push(run)
      await delay(EACH_MS)
    }
  }
  const going = go()
  return {
    accepted,
    turnedAway,
    async stop() {
      stopped.abort()
      await going
      await Promise.all(asked)
    },
  }
}
