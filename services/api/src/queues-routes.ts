import { countQueues, listQueues } from '@jadwal/queue'
import type { RequestHandler } from 'express'
import { z } from 'zod'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import type { Endpoints } from './endpoints.ts'
import { optionalJsonBody, SHORT_BODY } from './json-body.ts'
import { Problem } from './problem.ts'
import { pauseQueueDoc, PauseQueueBody, readQueueDoc, resumeQueueDoc } from './queues-docs.ts'
import { setQueuePause } from './set-queue-pause.ts'
import { parseRequest } from './zod-problem.ts'

const NoBody = z.strictObject({})

/** `/queues/{name}`: one queue, and its pause. */
export function addQueuesRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  const body = optionalJsonBody(SHORT_BODY)
  endpoints.add('/queues/:name', {
    get: { role: 'viewer', doc: readQueueDoc, handle: readHandler(deps) },
  })
  endpoints.add('/queues/:name/pause', {
    post: { role: 'operator', doc: pauseQueueDoc, handle: [...body, pauseHandler(deps)] },
  })
  endpoints.add('/queues/:name/resume', {
    post: { role: 'operator', doc: resumeQueueDoc, handle: [...body, resumeHandler(deps)] },
  })
}

function readHandler({ redis, prefix, clock }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const name = String(req.params['name'])
    const known = await askRedis(() => listQueues(redis, prefix))
    if (!known.includes(name))
      throw new Problem('not-found', { detail: `There is no queue ${name}.` })
    const nowMs = clock.now().getTime()
    const [queue] = await askRedis(() => countQueues(redis, prefix, { queues: [name], nowMs }))
    res.json(queue)
  }
}

function pauseHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    const { reason } = parseRequest(PauseQueueBody, req.body ?? {}, 'body')
    const pause = reason === undefined ? {} : { reason }
    res.json(await setQueuePause(deps, res, { name: String(req.params['name']), pause }))
  }
}

function resumeHandler(deps: ApiDeps): RequestHandler {
  return async (req, res) => {
    parseRequest(NoBody, req.body ?? {}, 'body')
    res.json(await setQueuePause(deps, res, { name: String(req.params['name']), pause: null }))
  }
}
