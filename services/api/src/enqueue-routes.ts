import type { RunState } from '@jadwal/domain'
import { IdempotencyConflictError } from '@jadwal/queue'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { checkOwnIds } from './check-own-ids.ts'
import type { Endpoints } from './endpoints.ts'
import { acceptBatch } from './enqueue-batch.ts'
import { checkTogether, EnqueueRequest, enqueueOptions } from './enqueue-request.ts'
import { enqueueStream } from './enqueue-stream.ts'
import { JobCheck } from './job-check.ts'
import { bodyLimit, jsonBody } from './json-body.ts'
import { readRun } from './read-run.ts'
import { enqueueBatchDoc } from './runs-docs.ts'
import { parseRequest } from './zod-problem.ts'

const LARGEST_BATCH = 32 * 1024 * 1024

/** `/runs/batch`: enqueue many runs. */
export function addEnqueueBatchRoute(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/runs/batch', {
    post: {
      role: 'operator',
      audit: false,
      handle: [enqueueStream(deps), ...jsonBody(LARGEST_BATCH), batchHandler(deps)],
      doc: enqueueBatchDoc,
    },
  })
}

/** What takes a run. An idempotency key or id that was there already is answered with its run. */
export function enqueueHandlers(deps: ApiDeps): RequestHandler[] {
  return [...jsonBody(bodyLimit(deps.maxPayloadBytes)), enqueueHandler(deps)]
}

function enqueueHandler(deps: ApiDeps): RequestHandler {
  const { producer, clock } = deps
  const jobs = new JobCheck(deps)
  return async (req, res) => {
    const request = parseRequest(EnqueueRequest, req.body, 'body')
    checkTogether(request, clock.now().getTime())
    const job = await jobs.accept(request.job, request.payload)
    const { payload } = request
    const run = { job, payload, options: enqueueOptions(request) }
    await checkOwnIds(deps, [run]).catch((error: unknown) => {
      throw error instanceof IdempotencyConflictError ? error.ofOne() : error
    })
    const { id, existing } = await producer.sendOne(run)
    res.status(202).location(`/api/v1/runs/${id}`)
    res.json(existing ? { id, ...(await stateOf(deps, id)), existing } : { id, state: 'queued' })
  }
}

function batchHandler(deps: ApiDeps): RequestHandler {
  const jobs = new JobCheck(deps)
  return async (req, res) => {
    const requests = await acceptBatch(deps, jobs, req.body)
    await checkOwnIds(deps, requests)
    const runs = await deps.producer.send(requests)
    res.status(202).json({
      runs: runs.map(({ id, existing }) => (existing ? { id, existing } : { id, state: 'queued' })),
    })
  }
}

/** Nothing where it cannot be told: that the run is there is the answer. */
async function stateOf(deps: ApiDeps, id: string): Promise<{ state?: RunState }> {
  const run = await readRun(deps, id).catch(() => undefined)
  return run ? { state: run.state } : {}
}
