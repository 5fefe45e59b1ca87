import { ALERTS_QUEUE, TICKS_QUEUE } from '@jadwal/domain'
import {
  appendEvents,
  listQueues,
  pauseQueue,
  type QueuePauseState,
  resumeQueue,
} from '@jadwal/queue'
import type { Response } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import { noteChange } from './audit.ts'
import { callerOf } from './caller.ts'
import { Problem } from './problem.ts'

/** A queue and how it stands after it was paused or resumed. */
export interface PausedQueue extends QueuePauseState {
  name: string
  /** What follows from it that one may not think of. */
  warnings: string[]
}

type PauseDeps = Pick<ApiDeps, 'redis' | 'prefix' | 'clock' | 'snapshots' | 'log'>

const NO_ALERTS =
  'Jadwal sends its alerts by runs of this queue: nobody hears of anything until it is resumed.'

/**
 * Pauses the runs of a queue, or lets them be made again, for who makes the request that is answered
 * with `res`. One that is so already stays as it is. Throws a `Problem` for a queue that there is not,
 * or that is no queue of runs.
 */
export async function setQueuePause(
  deps: PauseDeps,
  res: Response,
  change: { name: string; pause: { reason?: string } | null },
): Promise<PausedQueue> {
  const { redis, prefix, clock, snapshots, log } = deps
  const { name, pause } = change
  await requireQueue(deps, name)
  const by = callerOf(res).name
  const at = clock.now().toISOString()
  const { before, after } = await askRedis(() =>
    pause === null
      ? resumeQueue(redis, prefix, name)
      : pauseQueue(redis, prefix, { queue: name, by, at, ...pause }),
  )
  snapshots.forget()
  noteChange(res, { before, after })
  if (before.paused !== after.paused) {
    const type = pause === null ? 'queue.resumed' : 'queue.paused'
    const data = { queue: name, by, ...pause }
    // It is done: nobody is to be told that it failed.
    await askRedis(() => appendEvents(redis, prefix, [{ type, at, data }])).catch(
      (error: unknown) => log.warn({ err: error, queue: name, type }, 'an event is left out'),
    )
  }
  return { name, ...after, warnings: after.paused && name === ALERTS_QUEUE ? [NO_ALERTS] : [] }
}

/** Throws a `Problem` unless runs lie, or have lain, in a queue of this name. */
async function requireQueue(
  { redis, prefix }: Pick<PauseDeps, 'redis' | 'prefix'>,
  name: string,
): Promise<void> {
  if (name === TICKS_QUEUE || name.endsWith('.dead')) {
    const what = name === TICKS_QUEUE ? 'the alarms of the leader' : 'dead letters'
    throw new Problem('reserved-queue', {
      detail: `The queue ${name} keeps ${what}, not runs: it is not paused, resumed or otherwise changed.`,
    })
  }
  const queues = await askRedis(() => listQueues(redis, prefix))
  if (!queues.includes(name))
    throw new Problem('not-found', { detail: `There is no queue ${name}.` })
}
