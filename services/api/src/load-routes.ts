import { readScheduleRevision } from '@jadwal/db'
import { DAY, MINUTE, TooManyTicksError } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import type { Endpoints } from './endpoints.ts'
import { LoadQuery } from './load-query.ts'
import { type LoadRequest, makeLoadReport } from './load-report.ts'
import { type LoadAnswer, loadDoc } from './load-schema.ts'
import { loadView } from './load-view.ts'
import { fieldProblem, Problem } from './problem.ts'
import { parseRequest } from './zod-problem.ts'

const LONGEST = 7 * DAY
const MOST_BUCKETS = 100_000
/** An answer is given again for as long, unless a schedule changes. */
const KEPT_MS = 10_000
const MOST_WAITING = 4

/** `GET /schedules/load`: how many ticks the coming day holds, and how they could be spread. */
export function addLoadRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/schedules/load', {
    get: { role: 'viewer', doc: loadDoc, handle: loadHandler(deps) },
  })
}

function loadHandler(deps: ApiDeps): RequestHandler {
  const answers = new LoadAnswers(deps)
  return async (req, res) => {
    const nowMs = deps.clock.now().getTime()
    const request = readLoadQuery(req.query, nowMs)
    res.json(await askHistory(() => answers.answer(request)))
  }
}

/** The period begins and ends with whole buckets, counted from the epoch. */
function readLoadQuery(query: unknown, nowMs: number): LoadRequest {
  const { from, to, bucket: bucketMs = MINUTE } = parseRequest(LoadQuery, query, 'query')
  const begin = from?.getTime() ?? nowMs
  const end = to?.getTime() ?? begin + DAY
  if (end <= begin) throw fieldProblem('bad-request', 'to', 'must be later than from')
  if (end - begin > LONGEST)
    throw fieldProblem('bad-request', 'to', 'must be at most 7 days after from')
  const fromMs = Math.floor(begin / bucketMs) * bucketMs
  const toMs = Math.ceil(end / bucketMs) * bucketMs
  if ((toMs - fromMs) / bucketMs > MOST_BUCKETS)
    throw fieldProblem(
      'bad-request',
      'bucket',
      `must be longer: the period has more than ${MOST_BUCKETS} of these`,
    )
  return { fromMs, toMs, bucketMs }
}

interface Answer {
  key: string
  atMs: number
  view: LoadAnswer
}

/** One report is made at a time, however many ask; the last one is kept for a while. */
class LoadAnswers {
  readonly #deps: ApiDeps
  #last: Answer | undefined
  #making: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(deps: ApiDeps) {
    this.#deps = deps
  }

  async answer(request: LoadRequest): Promise<LoadAnswer> {
    if (this.#waiting >= MOST_WAITING) throw tooMany()
    this.#waiting += 1
    const turn = this.#making.then(() => this.#make(request))
    this.#making = turn.catch(() => undefined)
    return turn.finally(() => {
      this.#waiting -= 1
    })
  }

  async #make(request: LoadRequest): Promise<LoadAnswer> {
    const { db, clock } = this.#deps
    const key = JSON.stringify([request, await readScheduleRevision(db)])
    const last = this.#last
    if (last?.key === key && clock.monotonicMs() - last.atMs < KEPT_MS) return last.view
    try {
      const view = loadView(await makeLoadReport(this.#deps, request))
      this.#last = { key, atMs: clock.monotonicMs(), view }
      return view
    } catch (error) {
      throw error instanceof TooManyTicksError ? tooLong(error) : error
    }
  }
}

function tooMany(): Problem {
  const detail = 'Other load reports are being made: ask again in a few seconds.'
  return new Problem('try-later', { detail, headers: { 'Retry-After': '5' } })
}

function tooLong(cause: TooManyTicksError): Problem {
  const message = `must be nearer to from: the schedules have ${cause.message} in the period`
  return new Problem('bad-request', {
    detail: `to ${message}`,
    errors: [{ field: 'to', message }],
    cause,
  })
}
