import { isEnded, TICKS_QUEUE } from '@jadwal/domain'
import { cancelRun, promoteRun } from '@jadwal/queue'
import type { Request, RequestHandler, Response } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import { noteChange } from './audit.ts'
import { besideDoc } from './beside-docs.ts'
import type { Endpoints } from './endpoints.ts'
import { Problem } from './problem.ts'
import { requireRun } from './require-run.ts'
import { retryRun } from './retry-route.ts'
import { setQueuePause } from './set-queue-pause.ts'

type Act = (deps: ApiDeps, req: Request, res: Response) => Promise<void>

interface BoardAct {
  /** What the audit log calls it, and what it is done to. */
  audit: string
  subject: '/runs/:jobId' | '/queues/:queueName'
  act: Act
}

const [RUN, QUEUE] = ['/runs/:jobId', '/queues/:queueName'] as const

/** By the path that Bull Board's page puts to, what Jadwal does itself, with its facts. */
const ACTS: Record<string, BoardAct> = {
  '/api/queues/:queueName/:jobId/retry': { audit: 'runs.retry', subject: RUN, act: retry },
  '/api/queues/:queueName/:jobId/clean': { audit: 'runs.cancel', subject: RUN, act: remove },
  '/api/queues/:queueName/:jobId/promote': { audit: 'runs.promote', subject: RUN, act: promote },
  '/api/queues/:queueName/pause': { audit: 'queues.pause', subject: QUEUE, act: pause },
  '/api/queues/:queueName/resume': { audit: 'queues.resume', subject: QUEUE, act: resume },
}

export const BOARD_ACTS: readonly string[] = Object.keys(ACTS)

/** The acts of the board that Jadwal carries out. `onDone` is called when something may have changed. */
export function addBoardActs(endpoints: Endpoints, deps: ApiDeps, onDone: () => void): void {
  for (const [path, { audit, subject, act }] of Object.entries(ACTS))
    endpoints.add(path, {
      put: {
        role: 'operator',
        doc: besideDoc(`An act of Bull Board: ${audit}`, 'application/json'),
        audit,
        subject,
        handle: carryOut(deps, act, onDone),
      },
    })
}

function carryOut(deps: ApiDeps, act: Act, onDone: () => void): RequestHandler {
  return async (req, res) => {
    const queue = String(req.params['queueName'])
    if (queue === TICKS_QUEUE || queue.endsWith('.dead')) throw notOfRuns(queue)
    try {
      await act(deps, req, res)
    } finally {
      onDone()
    }
    res.json({})
  }
}

async function retry(deps: ApiDeps, req: Request, res: Response): Promise<void> {
  await retryRun(deps, res, await runOf(deps, req))
}

/** A run that waits is cancelled, with its fact. */
async function remove(deps: ApiDeps, req: Request, res: Response): Promise<void> {
  const { redis, prefix, clock } = deps
  const { id, queue, state } = await runOf(deps, req)
  if (isEnded(state))
    throw new Problem('run-ended', { detail: `The run has ended before: it is ${state}.` })
  if (state === 'running')
    throw new Problem('run-ended', {
      detail: `A worker has the run in hand: cancel it by POST /api/v1/runs/${id}/cancel.`,
    })
  const nowIso = clock.now().toISOString()
  const { result, before } = await askRedis(() =>
    cancelRun({ redis, prefix, nowIso }, { queue, id }, 'cancelled'),
  )
  if (result === 'gone') throw new Problem('run-ended', { detail: 'The run has just ended.' })
  noteChange(res, { before: { state: before }, after: { state: result } })
}

async function promote(deps: ApiDeps, req: Request, res: Response): Promise<void> {
  const { redis, prefix, clock } = deps
  const { id, queue, state } = await runOf(deps, req)
  const nowMs = clock.now().getTime()
  const promoted = await askRedis(() => promoteRun(redis, prefix, { queue, id, nowMs }))
  if (typeof promoted === 'string') {
    const why =
      promoted === 'held'
        ? 'waits for other runs, not for its time'
        : `does not wait for its time: it is ${state}`
    throw new Problem('not-delayed', {
      detail: `The run ${why}. GET /api/v1/runs/${id}/explain says more.`,
    })
  }
  noteChange(res, { before: { runAt: promoted.before }, after: { runAt: promoted.after } })
}

async function pause(deps: ApiDeps, req: Request, res: Response): Promise<void> {
  await setQueuePause(deps, res, { name: String(req.params['queueName']), pause: {} })
}

async function resume(deps: ApiDeps, req: Request, res: Response): Promise<void> {
  await setQueuePause(deps, res, { name: String(req.params['queueName']), pause: null })
}

/** The run of a path. Throws a `Problem` when it is not one of that queue. */
async function runOf(deps: ApiDeps, req: Request) {
  const run = await requireRun(deps, req.params['jobId'])
  if (run.queue === req.params['queueName']) return run
  throw new Problem('not-found', { detail: `The run is of the queue ${run.queue}.` })
}

function notOfRuns(queue: string): Problem {
  const what =
    queue === TICKS_QUEUE
      ? 'are the alarms of the leader'
      : 'are dead letters: redrive or discard them by /api/v1/dead-letters'
  return new Problem('forbidden', {
    detail: `Nothing in ${queue} can be changed here: its messages ${what}.`,
  })
}
