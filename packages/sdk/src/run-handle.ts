import { type PayloadCipher, RedisUnavailableError, type RunFollower } from '@jadwal/queue'
import { z } from 'zod'
import { InvalidRunError } from './check-run.ts'
import { type ApiAccess, askApi, HistoryUnavailableError } from './history-api.ts'
import { describeIssues } from './issues.ts'
import { type EndedRun, endOf, type RunStatus, statusOf } from './run-state.ts'

export interface EndOptions {
  /** How long to wait, in ms; without end when left out. */
  timeoutMs?: number
  /** Ends the wait with its reason. */
  signal?: AbortSignal
}

/** A run that was enqueued, by whomever. */
export interface RunHandle {
  readonly id: string
  /**
   * What has become of the run by now; undefined when it is not known: there never was such a run, or
   * Redis knows it no more and the client has no `api`. Throws `RedisUnavailableError` or
   * `HistoryUnavailableError`.
   */
  read(): Promise<RunStatus | undefined>
  /**
   * Waits until the run has ended and tells how; a run that is dead or cancelled has ended, too. Goes on
   * through outages of Redis and of the api. Throws `NotEndedError` after `timeoutMs`, `UnknownRunError` when
   * the run is not known, `HistoryUnavailableError` when the api gives an answer that asking again does not better
   * (such as 401), and the reason of `signal` when that aborts.
   */
  end(options?: EndOptions): Promise<EndedRun>
}

/** The run has not ended within the time that was given it. It goes on. */
export class NotEndedError extends Error {
  override name = 'NotEndedError'
  readonly code = 'NOT_ENDED'
  readonly runId: string
  readonly timeoutMs: number

  constructor(runId: string, timeoutMs: number) {
    super(`run ${runId} has not ended within ${timeoutMs} ms; it goes on`)
    this.runId = runId
    this.timeoutMs = timeoutMs
  }
}

/** Nobody who was asked knows of the run. */
export class UnknownRunError extends Error {
  override name = 'UnknownRunError'
  readonly code = 'UNKNOWN_RUN'
  readonly runId: string

  constructor(runId: string, askedApi: boolean) {
    const why = askedApi
      ? 'neither Redis nor the history has one with this id'
      : 'Redis has none with this id; if it has ended, only the history knows it: give createClient an "api", or enqueue with { follow: true }'
    super(`run ${runId} is not known: ${why}`)
    this.runId = runId
  }
}

export interface RunHandleDeps {
  follower: RunFollower
  api: ApiAccess | undefined
  /** Opens what runs of encrypted jobs leave behind. */
  cipher: PayloadCipher | undefined
}

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

const Options = z.strictObject({
  timeoutMs: z.int().min(0).max(LONGEST_TIMEOUT_MS).optional(),
  signal: z.instanceof(AbortSignal, { error: 'must be an AbortSignal' }).optional(),
})

/** Throws `InvalidRunError` when that is no id of a run. */
export function runHandle(deps: RunHandleDeps, given: string): RunHandle {
  const id = z.uuid().safeParse(given).data?.toLowerCase()
  if (id === undefined)
    throw new InvalidRunError(`run id (${JSON.stringify(given)}): must be what enqueue returned`)
  return {
    id,
    read: () => read(deps, id),
    async end(options = {}) {
      const issues = Options.safeParse(options).error?.issues ?? []
      if (issues.length > 0)
        throw new InvalidRunError(`options of end: ${describeIssues(issues, options)}`)
      return await end(deps, id, options)
    },
  }
}

async function read(
  { follower, api, cipher }: RunHandleDeps,
  id: string,
): Promise<RunStatus | undefined> {
  const fact = await follower.find(id)
  if (fact) return statusOf(fact, cipher)
  return api ? await askApi(api, id) : undefined
}

async function end(deps: RunHandleDeps, id: string, options: EndOptions): Promise<EndedRun> {
  const { timeoutMs, signal } = options
  const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const stop = AbortSignal.any([late, signal].filter((each) => each !== undefined))
  const followed = deps.follower.follow(id)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const ended = await passing(() => lookForEnd(deps, followed))
      if (ended) return ended
      signal?.throwIfAborted()
      if (late?.aborted === true) throw new NotEndedError(id, timeoutMs ?? 0)
      await deps.follower.changed(followed, stop)
    }
  } finally {
    deps.follower.leave(followed)
  }
}

/** Undefined while the run goes on. What has left Redis is looked for on its way to the history. */
async function lookForEnd(
  deps: RunHandleDeps,
  followed: ReturnType<RunFollower['follow']>,
): Promise<EndedRun | undefined> {
  const look = await deps.follower.look(followed)
  if (look.state === 'ended') return endOf(statusOf(look.fact, deps.cipher))
  if (look.state === 'unfinished') return undefined
  const status = await read(deps, followed.id)
  if (!status) throw new UnknownRunError(followed.id, deps.api !== undefined)
  return endOf(status)
}

/** Who is away for now is asked again later. */
async function passing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RedisUnavailableError) return undefined
    if (error instanceof HistoryUnavailableError && error.mayPass) return undefined
    throw error
  }
}
