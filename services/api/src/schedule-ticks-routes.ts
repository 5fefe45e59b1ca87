import { type Db, findScheduleName, listPausesOf, type NamedSchedule } from '@jadwal/db'
import { localTime, type NextTick, nextTicks, ScheduleName } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import type { Endpoints } from './endpoints.ts'
import { readLedgerPage } from './ledger-page.ts'
import { summarizeLedger } from './ledger-summary.ts'
import { ledgerView } from './ledger-view.ts'
import { fieldProblem } from './problem.ts'
import { noSchedule } from './schedules-routes.ts'
import { readLedgerQuery, readNextQuery } from './tick-query.ts'
import {
  type LedgerAnswer,
  type NextTickAnswer,
  nextTicksDoc,
  readLedgerDoc,
} from './tick-schema.ts'
import { findVersionInForce } from './version-in-force.ts'

/** More ticks than this are not counted in one answer. */
const MOST_COUNTED = 100_000

/** `/schedules/{name}/ticks` and `/next`: what became of a schedule's ticks, and which ones will come. */
export function addScheduleTicksRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/schedules/:name/ticks', {
    get: { role: 'viewer', doc: readLedgerDoc, handle: ledgerHandler(deps) },
  })
  endpoints.add('/schedules/:name/next', {
    get: { role: 'viewer', doc: nextTicksDoc, handle: nextHandler(deps) },
  })
}

function ledgerHandler({ db, searching, clock }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const nowMs = clock.now().getTime()
    const { fromMs, toMs, limit, cursorMs, wantsSummary } = readLedgerQuery(req.query, nowMs)
    const answer = await searching(async (): Promise<LedgerAnswer> => {
      const { id, name, deletedAt } = await requireNamed(db, req.params['name'])
      const period = { scheduleId: id, afterMs: fromMs - 1, untilMs: toMs - 1, nowMs }
      const afterMs = Math.max(period.afterMs, cursorMs ?? -Infinity)
      const pauses = toMs > nowMs ? await listPausesOf(db, id, nowMs) : []
      const page = await readLedgerPage(db, { ...period, afterMs }, limit)
      const context = { scheduleId: id, pauses, backfills: page.backfills }
      return {
        schedule: { id, name, ...(deletedAt ? { deletedAt: deletedAt.toISOString() } : {}) },
        from: iso(fromMs),
        to: iso(toMs),
        items: page.entries.map((entry) => ledgerView(entry, context)),
        nextCursor: page.nextAfterMs === undefined ? null : iso(page.nextAfterMs),
        ...(wantsSummary
          ? { summary: (await summarizeLedger(db, period, MOST_COUNTED)) ?? tooMany() }
          : {}),
      }
    })
    res.json(answer)
  }
}

function nextHandler({ db, clock }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const nowMs = clock.now().getTime()
    const { count } = readNextQuery(req.query)
    const items = await askHistory(async () => {
      const { id, name, deletedAt } = await requireNamed(db, req.params['name'])
      if (deletedAt) throw noSchedule(name)
      const pauses = await listPausesOf(db, id, nowMs)
      const version = await findVersionInForce(db, id, nowMs)
      if (!version) return []
      const ticks = nextTicks(id, version, { afterMs: nowMs, count, pauses })
      return ticks.map((tick) => nextTickView(tick, version.spec.timezone))
    })
    res.json({ items, nextCursor: null })
  }
}

function nextTickView(
  { tickAtMs, startsAtMs, reason }: NextTick,
  timezone: string,
): NextTickAnswer {
  return {
    tickAt: iso(tickAtMs),
    local: localTime(tickAtMs, timezone),
    startsAt: iso(startsAtMs),
    ...(reason === undefined ? {} : { skipped: reason }),
  }
}

/** Also one that was deleted: its ticks stay. Throws a `Problem` when there never was such a schedule. */
async function requireNamed(db: Db, name: unknown): Promise<NamedSchedule> {
  const known = ScheduleName.safeParse(name)
  const schedule = known.success ? await findScheduleName(db, known.data) : undefined
  if (!schedule) throw noSchedule(name)
  return schedule
}

function tooMany(): never {
  throw fieldProblem(
    'bad-request',
    'summary',
    `is not made of more than ${MOST_COUNTED} ticks: ask for a shorter period`,
  )
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
