import { once } from 'node:events'
import {
  type Enqueued,
  IdempotencyConflictError,
  PayloadTooLargeError,
  type RunRequest,
} from '@jadwal/queue'
import type { Request, RequestHandler, Response } from 'express'
import { type ReadDeps, type ReadLine, readLines } from './accept-lines.ts'
import type { ApiDeps } from './api-deps.ts'
import { callerOf } from './caller.ts'
import { checkOwnIds } from './check-own-ids.ts'
import { toProblem } from './error-handler.ts'
import { JobCheck } from './job-check.ts'
import { bodyLimit } from './json-body.ts'
import { EndlessStreamError, type Line, linesOf } from './ndjson-lines.ts'
import { Problem } from './problem.ts'
import { type Sent, sendApart } from './send-apart.ts'
import { StreamPlaces } from './stream-places.ts'
import { takeTurns } from './take-turns.ts'

const NDJSON = 'application/x-ndjson'
/** Streams at once in one process. */
const MOST_STREAMS = 16
/** Lines of one stream. */
const MOST_LINES = 1_000_000
/** A line that is too long is read over so far. */
const MOST_PASSED_OVER = 32 * 1024 * 1024
/** Runs that are sent to Redis together. */
const AT_ONCE = 500
/** A stream ends when nothing comes for so long, or nobody takes its answers. */
const IDLE_MS = 30_000

/**
 * Takes a run a line, and answers a line for each while others still come in. Reads no faster than Redis
 * takes the runs and the client the answers, so that a stream of any length needs the memory of a few
 * hundred lines. Streams take turns, and no more than a few are served at once, so that other requests are
 * answered meanwhile. What is not NDJSON is left to those who come after.
 */
export function enqueueStream(deps: ApiDeps): RequestHandler {
  const places = new StreamPlaces(
    MOST_STREAMS,
    `At most ${MOST_STREAMS} streams of runs may come to this process at once.`,
  )
  const turn = takeTurns()
  const readDeps = { clock: deps.clock, jobs: new JobCheck(deps), turn }
  const limits = {
    mostBytes: bodyLimit(deps.maxPayloadBytes),
    mostPassedOver: MOST_PASSED_OVER,
    mostLines: MOST_LINES,
  }
  return async (req, res, next) => {
    if (!req.is(NDJSON)) return next()
    refuseEncoded(req)
    const leave = places.take(callerOf(res))
    res.status(202).type(NDJSON).flushHeaders()
    const answers = new Answers(req, res)
    req.setTimeout(IDLE_MS, () => req.destroy())
    try {
      for await (const lines of linesOf(req, limits, turn))
        for (let at = 0; at < lines.length; at += AT_ONCE)
          await answers.write(await enqueueLines(deps, readDeps, lines.slice(at, at + AT_ONCE)))
      res.end()
    } catch (error) {
      if (req.destroyed && !req.complete) res.destroy()
      else answers.stop(error instanceof EndlessStreamError ? endless(error) : toProblem(error))
    } finally {
      req.setTimeout(0)
      leave()
    }
  }
}

type Outcome = { line: number } & ({ id: string; existing: boolean } | { problem: Problem })

/** The outcome of each line, in their order. Throws when Redis is away, and then some may be in. */
async function enqueueLines(
  deps: ApiDeps,
  readDeps: ReadDeps,
  lines: readonly Line[],
): Promise<Outcome[]> {
  const read: ReadLine[] = await readLines(readDeps, lines)
  const good = read.flatMap((line) => ('request' in line ? [line] : []))
  const sent = await sendApart(
    good.map(({ request }) => request),
    (requests) => send(deps, requests),
  )
  const byLine = new Map(good.map(({ number }, at) => [number, sent[at]]))
  return read.flatMap((own): Outcome[] => {
    const { number: line } = own
    const outcome = 'problem' in own ? own.problem : byLine.get(line)
    if (outcome instanceof Problem) return [{ line, problem: outcome }]
    return outcome ? [{ line, ...outcome }] : []
  })
}

async function send(deps: ApiDeps, requests: readonly RunRequest[]): Promise<Sent<Enqueued>> {
  try {
    await checkOwnIds(deps, requests)
    return { sent: await deps.producer.send(requests) }
  } catch (error) {
    const { index } =
      error instanceof IdempotencyConflictError || error instanceof PayloadTooLargeError
        ? error
        : { index: undefined }
    if (index === undefined) throw error
    const own = error instanceof IdempotencyConflictError ? error.ofOne() : error
    return { index, problem: ofOneRun(toProblem(own)) }
  }
}

/** A line has one run: its fields need no place among others. */
function ofOneRun(problem: Problem): Problem {
  const errors = problem.errors?.map((error) => ({ ...error, field: plain(error.field) }))
  return new Problem(problem.kind, {
    detail: plain(problem.message),
    ...(errors ? { errors } : {}),
    more: problem.more,
  })
}

function plain(text: string): string {
  return text.replace(/^runs\[\d+\]\./, '')
}

class Answers {
  readonly #res: Response
  readonly #requestId: string
  readonly #gone = new AbortController()
  #last = 0

  constructor(req: Request, res: Response) {
    this.#res = res
    res.once('close', () => this.#gone.abort())
    this.#requestId = typeof req.id === 'string' ? req.id : ''
  }

  /** Resolves when the client has taken so much that more may follow. Rejects when it takes nothing more. */
  async write(outcomes: readonly Outcome[]): Promise<void> {
    const text = outcomes.map((outcome) => `${JSON.stringify(this.#shown(outcome))}\n`).join('')
    this.#last = outcomes.at(-1)?.line ?? this.#last
    if (this.#res.write(text)) return
    const signal = AbortSignal.any([this.#gone.signal, AbortSignal.timeout(IDLE_MS)])
    await once(this.#res, 'drain', { signal }).catch((error: unknown) => {
      this.#res.destroy()
      throw error
    })
  }

  /** Says in a last line that nothing after the lines that were answered is sure to be in. */
  stop(problem: Problem): void {
    if (this.#res.destroyed) return
    const last = { afterLine: this.#last, problem: problem.document(this.#requestId) }
    this.#res.end(`${JSON.stringify(last)}\n`)
  }

  #shown(outcome: Outcome): object {
    const { line } = outcome
    if ('problem' in outcome) return { line, problem: outcome.problem.document(this.#requestId) }
    const { id, existing } = outcome
    return existing ? { line, id, existing } : { line, id, state: 'queued' }
  }
}

function refuseEncoded({ headers }: Request): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw new Problem('unsupported-media-type', {
      detail: `Send lines as they are, without "Content-Encoding: ${encoding}".`,
    })
}

function endless(error: EndlessStreamError): Problem {
  return new Problem('payload-too-large', {
    detail: `${error.message}: send the others in another one.`,
    cause: error,
  })
}
