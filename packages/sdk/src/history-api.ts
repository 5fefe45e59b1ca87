import { type RunStatus, ShownRun, statusOf } from './run-state.ts'

const ANSWERS_WITHIN_MS = 5_000
/** What a proxy says of a request that was too slow, or one too many. */
const PASSING_STATUS: ReadonlySet<number> = new Set([408, 429])

/** How the api is reached. */
export interface ApiAccess {
  /** Such as `https://jobs.example.com`. */
  url: string
  /** A token of the api; the role `viewer` is enough. */
  token?: string
}

/** The api gave no answer about a run, or one that is of no use. */
export class HistoryUnavailableError extends Error {
  override name = 'HistoryUnavailableError'
  readonly code = 'HISTORY_UNAVAILABLE'
  /** Whether asking again may help. */
  readonly mayPass: boolean

  constructor(message: string, mayPass: boolean, options?: ErrorOptions) {
    super(message, options)
    this.mayPass = mayPass
  }
}

/** Asks the api for a run; undefined when it knows none with this id. Throws `HistoryUnavailableError`. */
export async function askApi(api: ApiAccess, id: string): Promise<RunStatus | undefined> {
  const url = `${api.url.replace(/\/+$/, '')}/api/v1/runs/${id}`
  const headers = api.token === undefined ? {} : { authorization: `Bearer ${api.token}` }
  const answer = await fetch(url, {
    headers,
    signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
  }).catch((cause: unknown) => {
    throw new HistoryUnavailableError(`the api at ${api.url} does not answer`, true, { cause })
  })
  const text = await answer.text().catch(() => '')
  if (answer.status === 404) return undefined
  const shown = answer.ok ? ShownRun.safeParse(parseJson(text)).data : undefined
  if (shown) return statusOf(shown)
  const said = `the api at ${api.url} answered with ${answer.status}`
  const mayPass = answer.status >= 500 || PASSING_STATUS.has(answer.status)
  throw new HistoryUnavailableError(said, mayPass)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
