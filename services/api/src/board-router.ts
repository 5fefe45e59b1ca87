import type { JobDescription, Role } from '@jadwal/domain'
import { type Request, type RequestHandler, Router } from 'express'
import { z } from 'zod'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import { addBoardActs } from './board-acts.ts'
import type { BoardAdapter, BoardAnswer } from './board-adapter.ts'
import { BoardAnswers } from './board-answers.ts'
import { refuse, tellPage } from './board-error-handler.ts'
import { showMessage } from './board-privacy.ts'
import { besideDoc } from './beside-docs.ts'
import { callerOf } from './caller.ts'
import { Catalogue } from './catalogue.ts'
import { Endpoints } from './endpoints.ts'

const QUEUES = '/api/queues'
const MESSAGE = '/api/queues/:queueName/:jobId'
const LOGS = '/api/queues/:queueName/:jobId/logs'
const FLOW = '/api/queues/:queueName/:jobId/flow'
/** What can be read of the board. */
export const BOARD_READS: readonly string[] = [QUEUES, LOGS, FLOW, MESSAGE]

const PAGE = 'The page of Bull Board'
const MOST_MESSAGES = 50

/**
 * The way to Bull Board: every request that it answers stands here, with the role that it needs. What
 * does not is refused, so that a route of a later version is closed until somebody opens it.
 */
export function boardRouter(deps: ApiDeps, boardOf: (role: Role) => BoardAdapter): RequestHandler {
  const endpoints = new Endpoints(deps.audit)
  const answers = new BoardAnswers(deps.clock)
  const catalogue = new Catalogue(deps)
  const jobs = async (): Promise<ReadonlyMap<string, JobDescription>> =>
    new Map((await catalogue.with([])).map((job) => [job.name, job]))

  for (const path of boardOf('viewer').pages)
    endpoints.add(
      path,
      read(PAGE, async (_req, res) => {
        res.type('html').send(await boardOf(callerOf(res).role).page())
      }),
    )
  endpoints.add(
    QUEUES,
    read('The queues of Bull Board, and the messages of one', async (req, res) => {
      const { role } = callerOf(res)
      const board = boardOf(role)
      const query = readQuery(req)
      const key = `${role === 'viewer' ? 'look' : 'act'} ${JSON.stringify(query)}`
      const answer = await answers.get(key, async () => {
        const told = await askRedis(() => board.ask(QUEUES, { query, params: {} }))
        return JSON.stringify(showQueues(told, await askRedis(jobs)))
      })
      res.type('json').send(answer)
    }),
  )
  // Jadwal writes neither: what handlers log is in the history.
  endpoints.add(
    LOGS,
    read('The log of a message, which is in the history', (_req, res) => void res.json([])),
  )
  endpoints.add(
    FLOW,
    read('The flow of a message, which has none', (req, res) => {
      res.json({ nodeId: req.params['jobId'], flowRoot: null, isFlowNode: false })
    }),
  )
  addBoardActs(endpoints, deps, () => answers.forget())
  endpoints.add(
    MESSAGE,
    read('A message', async (req, res) => {
      const board = boardOf(callerOf(res).role)
      const { params } = req
      const { status, body } = await askRedis(() => board.ask(MESSAGE, { query: {}, params }))
      res.status(status).json(showJob(body, await askRedis(jobs)))
    }),
  )
  return Router().use(boardOf('viewer').files, endpoints.router, refuse, tellPage)
}

function read(what: string, handle: RequestHandler) {
  const type = what === PAGE ? 'text/html' : 'application/json'
  return { get: { role: 'viewer' as const, doc: besideDoc(what, type), handle } }
}

const Query = z.object({
  activeQueue: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,105}$/)
    .optional()
    .catch(undefined),
  status: z
    .string()
    .regex(/^[a-z-]{1,30}$/)
    .optional()
    .catch(undefined),
  page: z.coerce.number().int().min(1).max(1_000_000).catch(1).transform(String),
  jobsPerPage: z.coerce.number().int().min(1).max(MOST_MESSAGES).catch(10).transform(String),
})

/** What the page asks for, within bounds; so that who asks for the same is known to. */
function readQuery({ query }: Request): Record<string, string> {
  const { activeQueue, status, ...rest } = Query.parse(query)
  return {
    ...rest,
    ...(activeQueue === undefined ? {} : { activeQueue }),
    ...(status === undefined ? {} : { status }),
  }
}

type Jobs = ReadonlyMap<string, JobDescription>

const Queues = z.object({ queues: z.array(z.looseObject({ jobs: z.array(z.unknown()) })) })
const OneJob = z.looseObject({ job: z.unknown() })

function showQueues({ body }: BoardAnswer, jobs: Jobs): object {
  const { queues } = Queues.parse(body)
  return {
    queues: queues.map((queue) =>
      Object.assign(queue, { jobs: queue.jobs.map((message) => showMessage(message, jobs)) }),
    ),
  }
}

function showJob(body: unknown, jobs: Jobs): unknown {
  const parsed = OneJob.safeParse(body)
  if (!parsed.success || parsed.data.job === undefined) return body
  return { ...parsed.data, job: showMessage(parsed.data.job, jobs) }
}
