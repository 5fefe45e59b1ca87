import type { RunView } from '@jadwal/db'
import { isEnded } from '@jadwal/domain'
import {
  findJob,
  memoryUse,
  outboxShare,
  readWaitingRun,
  readWorkers,
  WORKERS_STOP_AT,
} from '@jadwal/queue'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import type { Endpoints } from './endpoints.ts'
import { explainDoc } from './explain-docs.ts'
import { reasonsOf } from './explain-reasons.ts'
import type { Reason } from './reason.ts'
import { requireRun } from './require-run.ts'

/** Outboxes that take more than this part of Redis' memory keep workers from taking runs. */
const LONG_OUTBOXES = 0.05

/** `/runs/{id}/explain`: why a run has not been started. */
export function addExplainRoute(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/runs/:id/explain', {
    get: { role: 'viewer', doc: explainDoc, handle: explainHandler(deps) },
  })
}

function explainHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const run = await requireRun(deps, req.params['id'])
    const { id, job, queue, state } = run
    const reasons = isEnded(state) ? [ended(run)] : await askRedis(() => whyItWaits(deps, run))
    res.json({ id, job, queue, state, asOf: deps.clock.now().toISOString(), reasons })
  }
}

async function whyItWaits({ redis, prefix, clock }: ApiDeps, run: RunView): Promise<Reason[]> {
  const { id, queue } = run
  const nowMs = clock.now().getTime()
  const [message, workers, job, use] = await Promise.all([
    readWaitingRun(redis, prefix, { queue, id, owner: run.backfillId ?? run.scheduleId }),
    readWorkers(redis, prefix, nowMs),
    findJob(redis, prefix, run.job),
    memoryUse(redis),
  ])
  if (!message) return [lost(run)]
  if (message.hasLock)
    return [
      running(
        run,
        workers.find(({ running: its }) => its.some((each) => each.id === id))?.instance,
      ),
    ]
  const workersHold = use >= WORKERS_STOP_AT && (await outboxShare(redis, prefix)) > LONG_OUTBOXES
  return reasonsOf({ queue, message, workers, job, nowMs, workersHold })
}

function ended({ state, reason, startedAt, finishedAt, attempts, redrivenAs }: RunView): Reason {
  const why = reason === undefined ? '' : ` (${reason})`
  const when = finishedAt === undefined ? '' : ` at ${finishedAt}`
  return {
    kind: 'ended',
    message: `It has ended: ${state}${why}${when}, after ${attempts.length} attempts.`,
    ...(state === 'dead' && redrivenAs === undefined
      ? { help: 'Make a new run of it: POST /api/v1/runs/{id}/retry' }
      : {}),
    data: {
      state,
      reason: reason ?? null,
      startedAt: startedAt ?? null,
      finishedAt: finishedAt ?? null,
      redrivenAs: redrivenAs ?? null,
    },
  }
}

function running({ attempts, startedAt }: RunView, heardFrom: string | undefined): Reason {
  const last = attempts.at(-1)
  const worker = last?.worker ?? heardFrom ?? null
  const since = last?.startedAt ?? startedAt ?? null
  const where = worker === null ? 'A worker' : `The worker ${worker}`
  return {
    kind: 'running',
    message: `${where} has had it in hand${since === null ? '' : ` since ${since}`}.`,
    data: { worker, since, attempt: last?.attempt ?? 1 },
  }
}

function lost({ state }: RunView): Reason {
  return {
    kind: 'message-lost',
    message: `The history has it as ${state}, and Redis has no message of it: it has just ended, or Redis has lost it.`,
    help: 'A leader looks for such runs each minute, and makes their messages anew as onLost of the job says: see that a scheduler leads.',
    data: { state },
  }
}
