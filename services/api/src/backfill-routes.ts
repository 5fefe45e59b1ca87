import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import {
  type BackfillChange,
  countBackfillRuns,
  findBackfill,
  findSchedule,
  insertBackfill,
  listBackfills,
  type NamedBackfill,
  type PageRequest,
  tellingBackfillState,
} from '@jadwal/db'
import {
  type BackfillRange,
  backfillTicks,
  ScheduleId,
  ScheduleName,
  ScheduleSpec,
} from '@jadwal/domain'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import { noteChange } from './audit.ts'
import { BackfillQuery, BackfillRequest, MOST_KEPT_FROM, MOST_TICKS } from './backfill-request.ts'
import {
  changeBackfillDoc,
  createBackfillDoc,
  listBackfillsDoc,
  readBackfillDoc,
} from './backfill-schema.ts'
import { backfillView } from './backfill-view.ts'
import { callerOf } from './caller.ts'
import type { Endpoints } from './endpoints.ts'
import { JobCheck } from './job-check.ts'
import { jsonBody } from './json-body.ts'
import { pathUuid } from './path-uuid.ts'
import { fieldProblem, Problem } from './problem.ts'
import { withoutUndefined } from './run-query.ts'
import { findVersionInForce } from './version-in-force.ts'
import { parseRequest } from './zod-problem.ts'

/** Ticks that are counted in one turn of the event loop. */
const COUNTED_AT_ONCE = 2_000
const DEFAULT_CONCURRENCY = 10

/** `/backfills`: runs for ticks of the past. The leader makes them; here they are asked for and watched. */
export function addBackfillRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/schedules/:name/backfill', {
    post: {
      role: 'operator',
      doc: createBackfillDoc,
      handle: [...jsonBody('16kb'), createHandler(deps)],
    },
  })
  endpoints.add('/backfills', {
    get: { role: 'viewer', doc: listBackfillsDoc, handle: listHandler(deps) },
  })
  endpoints.add('/backfills/:id', {
    get: { role: 'viewer', doc: readBackfillDoc, handle: readHandler(deps) },
  })
  const change = (act: 'pause' | 'resume' | 'cancel', handler: RequestHandler): void =>
    endpoints.add(`/backfills/:id/${act}`, {
      post: { role: 'operator', doc: changeBackfillDoc(act), handle: handler },
    })
  change('pause', changeHandler(deps, { from: ['running'], to: 'paused' }))
  change('resume', changeHandler(deps, { from: ['paused'], to: 'running' }))
  change('cancel', changeHandler(deps, { from: ['running', 'paused'], to: 'cancelled' }))
}

function createHandler(deps: ApiDeps): RequestHandler {
  const { db, clock } = deps
  const jobs = new JobCheck(deps)
  return async (req, res) => {
    const request = parseRequest(BackfillRequest, req.body, 'body')
    const now = clock.now()
    const [fromMs, untilMs] = [request.from.getTime(), request.to.getTime()]
    if (untilMs <= fromMs) throw fieldProblem('bad-request', 'to', 'must be later than from')
    if (untilMs > now.getTime())
      throw fieldProblem(
        'bad-request',
        'to',
        'must not be in the future: a backfill is of the past',
      )
    const { id: scheduleId, name, written, calendars } = await requireLive(deps, req.params['name'])
    const spec = ScheduleSpec.parse(written)
    const { queue } = await jobs.accept(spec.job, spec.payload)
    const ticks = await countTicks({ fromMs, untilMs: untilMs - 1, spec, calendars })
    const { rate = null, concurrency, all } = request
    const id = randomUUID()
    const backfill = {
      id,
      schedule_id: scheduleId,
      from_at: request.from,
      until_at: request.to,
      state: 'running' as const,
      all_ticks: all,
      rate,
      concurrency: concurrency ?? (spec.overlap === 'allow' ? DEFAULT_CONCURRENCY : 1),
      spec: JSON.stringify(written),
      calendars: JSON.stringify(calendars),
      queue,
      ticks,
      author: callerOf(res).name,
      created_at: now,
    }
    await askHistory(() => insertBackfill(db, backfill))
    noteChange(res, { after: { backfill: id, ticks } })
    res.status(202).location(`/api/v1/backfills/${id}`).json({ id, schedule: name, ticks })
  }
}

function listHandler({ db }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const { schedule, ...query } = parseRequest(BackfillQuery, req.query, 'query')
    const filter = schedule === undefined ? {} : { schedule }
    const page = withoutUndefined<PageRequest>({ limit: query.limit, cursor: query.cursor })
    const { items, nextCursor } = await askHistory(() => listBackfills(db, filter, page))
    res.json({ items: items.map((item) => backfillView(item)), nextCursor })
  }
}

function readHandler({ db }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const view = await askHistory(async () => {
      const backfill = await requireBackfill(db, req.params['id'])
      return backfillView(backfill, await countBackfillRuns(db, backfill.id))
    })
    res.json(view)
  }
}

type Change = Pick<BackfillChange, 'from' | 'to'>

/** Asking for what is so already changes nothing and is no error. */
function changeHandler({ db, clock }: ApiDeps, change: Change): RequestHandler {
  return async (req, res) => {
    const id = readId(req.params['id'])
    const told = await askHistory(() =>
      tellingBackfillState(db, id, { ...change, at: clock.now() }),
    )
    if (!told) throw noBackfill()
    const { isChanged, before, after } = told
    if (!isChanged && after.state !== change.to)
      throw new Problem('backfill-ended', {
        detail: `This backfill is ${after.state}: only one that is ${change.from.join(' or ')} can become ${change.to}.`,
      })
    noteChange(res, { before: { state: before }, after: { state: after.state } })
    res.json(backfillView(after))
  }
}

async function requireBackfill(db: ApiDeps['db'], given: unknown): Promise<NamedBackfill> {
  const backfill = await findBackfill(db, readId(given))
  if (!backfill) throw noBackfill()
  return backfill
}

/** Throws a `Problem` for what can be no id. */
function readId(given: unknown): string {
  const id = pathUuid(given)
  if (id === undefined) throw noBackfill()
  return id
}

function noBackfill(): Problem {
  return new Problem('not-found', { detail: 'There is no backfill with this id.' })
}

async function requireLive({ db, clock }: ApiDeps, given: unknown) {
  const name = ScheduleName.safeParse(given).data
  return await askHistory(async () => {
    const schedule = name === undefined ? undefined : await findSchedule(db, name)
    const id = schedule && ScheduleId.parse(schedule.id)
    const version = id && (await findVersionInForce(db, id, clock.now().getTime()))
    if (!version)
      throw new Problem('not-found', { detail: `There is no schedule "${String(given)}".` })
    if (version.spec.mode === 'shadow')
      throw new Problem('shadow', {
        detail: `${schedule.name} is in shadow mode: none of its runs is executed. Set "mode: live" first.`,
      })
    return { id, name: schedule.name, written: schedule.spec, calendars: version.calendars ?? {} }
  })
}

/** Throws a `Problem` when there are none, or too many, or when counting them takes too long. */
async function countTicks(range: BackfillRange): Promise<number> {
  let [count, keptFrom, afterMs] = [0, 0, range.fromMs - 1]
  for (;;) {
    const stretch = backfillTicks(range, afterMs, COUNTED_AT_ONCE)
    count += stretch.ticks.length
    keptFrom += stretch.keptFrom
    afterMs = stretch.positionMs
    if (count > MOST_TICKS)
      throw fieldProblem(
        'bad-request',
        'to',
        `makes a range of more than ${MOST_TICKS} ticks: make several backfills`,
      )
    if (keptFrom > MOST_KEPT_FROM)
      throw fieldProblem(
        'bad-request',
        'to',
        `makes a range that calendars keep the schedule from more than ${MOST_KEPT_FROM} times: make several backfills`,
      )
    if (stretch.end) break
    await setImmediate()
  }
  if (count === 0)
    throw fieldProblem('bad-request', 'from', 'the schedule has no tick from there up to `to`')
  return count
}
