import { listRuns, type PageRequest, type RunFilters, type RunView, runView } from '@jadwal/db'
import { isEnded, type RunFact } from '@jadwal/domain'
import { listNewestLiving, listQueues, type LivingRun, readMessage } from '@jadwal/queue'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import { fitsFilters, mayBeLiving } from './living-filters.ts'
import { Problem } from './problem.ts'
import { rowOf, withAttemptOf } from './read-run.ts'

/** Ids that are looked at in Redis for one page, over all queues; at least `FEWEST` of each place. */
const MOST_IDS = 40_000
const FEWEST = 100
/** Messages that are read for one page. */
const MOST_READ = 1_000
const READ_AT_ONCE = 100
const DEFAULT_LIMIT = 50

export interface RunPage {
  items: RunView[]
  nextCursor: string | null
  /** Redis is away: runs that have no row yet are missing. */
  partial?: true
}

/**
 * Runs as `listRuns` finds them, and among them those that wait or run and have no row yet. A page has
 * those whose ids lie between its first place and its last, so that its cursor goes on as it would
 * without them.
 */
export async function listRunsWithLiving(
  deps: ApiDeps,
  filters: RunFilters,
  page: PageRequest,
): Promise<RunPage> {
  const limit = page.limit ?? DEFAULT_LIMIT
  const first = mayBeLiving(filters) ? await livingOrAway(deps, filters) : []
  const { items, nextCursor } = await deps.searching(() => listRuns(deps.db, filters, page))
  const recorded = items.map(({ run, attempts }) => runView(run, attempts))
  if (first === undefined) return { items: recorded, nextCursor, partial: true }
  const known = new Set(recorded.map(({ id }) => id))
  const before = page.cursor === undefined ? undefined : idOf(page.cursor)
  const reached = nextCursor === null ? undefined : idOf(nextCursor)
  const candidates = first.filter(
    ({ id }) =>
      !known.has(id) &&
      (before === undefined || id < before) &&
      (reached === undefined || id > reached),
  )
  const living = await readFitting(deps, { candidates, filters, limit })
  if (living === undefined) return { items: recorded, nextCursor, partial: true }
  const all = [...recorded, ...living].toSorted((a, b) => (a.id < b.id ? 1 : -1))
  const shown = all.slice(0, limit)
  const last = shown.at(-1)
  const isCut = all.length > limit
  return {
    items: shown,
    nextCursor: isCut && last ? Buffer.from(last.id).toString('base64url') : nextCursor,
  }
}

/** Undefined when Redis is away. They are listed before the history is read: what ends meanwhile is met there. */
async function livingOrAway(
  { redis, prefix }: ApiDeps,
  { queue }: RunFilters,
): Promise<LivingRun[] | undefined> {
  return await unlessAway(async () => {
    const queues = queue === undefined ? await listQueues(redis, prefix) : [queue]
    const perPlace = Math.max(FEWEST, Math.floor(MOST_IDS / Math.max(queues.length, 1) / 4))
    return await listNewestLiving(redis, prefix, { queues, perPlace })
  })
}

async function readFitting(
  { redis, prefix }: ApiDeps,
  asked: { candidates: readonly LivingRun[]; filters: RunFilters; limit: number },
): Promise<RunView[] | undefined> {
  const { candidates, filters, limit } = asked
  const fitting: RunView[] = []
  return await unlessAway(async () => {
    for (let at = 0; at < Math.min(candidates.length, MOST_READ); at += READ_AT_ONCE) {
      const some = candidates.slice(at, at + READ_AT_ONCE)
      const facts = await Promise.all(some.map((each) => readMessage(redis, prefix, each)))
      for (const fact of facts)
        if (fact && !isEnded(fact.state) && fitsFilters(fact, filters)) fitting.push(viewOf(fact))
      if (fitting.length > limit) break
    }
    return fitting
  })
}

function viewOf(fact: RunFact): RunView {
  return runView(rowOf(fact), withAttemptOf(fact, []))
}

async function unlessAway<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await askRedis(work)
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

function idOf(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString()
}
