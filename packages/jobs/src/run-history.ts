import { PermanentError } from '@jadwal/sdk'
import type { Dispatcher } from 'undici'
import { z } from 'zod'
import type { Period } from './report-period.ts'

const PAGE_ROWS = 200

/** Of a run, as the api lists it, what a report needs. */
const Run = z.object({
  id: z.string(),
  job: z.string(),
  queue: z.string(),
  state: z.string(),
  reason: z.string().optional(),
  schedule: z.string().optional(),
  tickAt: z.string().optional(),
  enqueuedAt: z.string(),
  startedAt: z.string().optional(),
  finishedAt: z.string().optional(),
  attempts: z.array(z.unknown()).default([]),
  error: z.object({ name: z.string(), message: z.string() }).optional(),
})
export type HistoryRun = z.infer<typeof Run>

const Page = z.object({ items: z.array(Run), nextCursor: z.string().nullish() })

interface HistoryDeps {
  dispatcher: Dispatcher
  api: { url: string; token: string }
}

/** The runs of a period from the api, newest first, page by page. */
export async function* readHistory(
  deps: HistoryDeps,
  period: Period,
  signal: AbortSignal,
): AsyncGenerator<HistoryRun[]> {
  let cursor: string | undefined
  do {
    const page = await readPage(deps, pageUrl(deps.api.url, period, cursor), signal)
    yield page.items
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}

function pageUrl(base: string, period: Period, cursor: string | undefined): URL {
  const url = new URL('api/v1/runs', base.endsWith('/') ? base : `${base}/`)
  url.searchParams.set('from', period.from.toISOString())
  url.searchParams.set('to', period.to.toISOString())
  url.searchParams.set('limit', String(PAGE_ROWS))
  if (cursor !== undefined) url.searchParams.set('cursor', cursor)
  return url
}

async function readPage(
  deps: HistoryDeps,
  url: URL,
  signal: AbortSignal,
): Promise<z.infer<typeof Page>> {
  const response = await deps.dispatcher.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    headers: { accept: 'application/json', authorization: `Bearer ${deps.api.token}` },
    signal,
  })
  const { statusCode } = response
  if (statusCode !== 200) {
    await response.body.dump()
    const sentence = `the api at ${url.origin} answered ${statusCode} to GET ${url.pathname}`
    if (statusCode === 401 || statusCode === 403)
      throw new PermanentError(`${sentence}: check JADWAL_TOKEN of the worker`)
    throw new Error(sentence)
  }
  return Page.parse(await response.body.json())
}
