import { listRuns, runView } from '@jadwal/db'
import { PayloadCheck } from '@jadwal/queue'
import type { RequestHandler, Router } from 'express'
import { z } from 'zod'
import type { ApiDeps } from './api-deps.ts'
import { askHistory, askRedis } from './ask.ts'
import { Catalogue } from './catalogue.ts'
import { endpoint } from './endpoint.ts'
import { checkTogether, EnqueueRequest, findJob } from './enqueue-request.ts'
import { jsonBody } from './json-body.ts'
import { type FieldError, Problem } from './problem.ts'
import { readRun } from './read-run.ts'
import { readRunQuery } from './run-query.ts'
import { parseRequest } from './zod-problem.ts'

/** Twice the largest payload: JSON may be written wider than it is counted. */
const LARGEST_BODY = '1mb'

/** `/runs`: enqueue, search and look at runs. */
export function addRunsRoutes(router: Router, deps: ApiDeps): void {
  endpoint(router, '/runs', {
    get: listHandler(deps),
    post: [...jsonBody(LARGEST_BODY), enqueueHandler(deps)],
  })
  endpoint(router, '/runs/:id', { get: readHandler(deps) })
}

function enqueueHandler({ redis, prefix, producer, clock }: ApiDeps): RequestHandler {
  const payloads = new PayloadCheck()
  const catalogue = new Catalogue({ redis, prefix, clock })
  return async (req, res) => {
    const request = parseRequest(EnqueueRequest, req.body, 'body')
    checkTogether(request, clock.now().getTime())
    const job = findJob(await askRedis(() => catalogue.with(request.job)), request.job)
    const errors = payloads.problems(job, request.payload)
    if (errors.length > 0) throw invalidPayload(job.name, errors)
    const { delayMs, runAt, priority, attempts } = request
    const id = await producer.enqueue(job, request.payload, {
      ...(delayMs === undefined ? {} : { delayMs }),
      ...(runAt === undefined ? {} : { runAt }),
      ...(priority === undefined ? {} : { priority }),
      ...(attempts === undefined ? {} : { attempts }),
    })
    res.status(202).location(`/api/v1/runs/${id}`).json({ id, state: 'queued' })
  }
}

function listHandler({ db }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const { filters, page } = readRunQuery(req.query)
    const runs = await askHistory(() => listRuns(db, filters, page))
    res.json({
      items: runs.items.map(({ run, attempts }) => runView(run, attempts)),
      nextCursor: runs.nextCursor,
    })
  }
}

function readHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const id = z.uuid().safeParse(req.params['id']).data?.toLowerCase()
    const run = id === undefined ? undefined : await readRun(deps, id)
    if (!run) throw new Problem('not-found', { detail: 'There is no run with this id.' })
    res.json(run)
  }
}

function invalidPayload(job: string, errors: readonly FieldError[]): Problem {
  const said = errors.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new Problem('invalid-payload', {
    detail: `The payload does not fit ${job}: ${said}`,
    errors,
  })
}
