import { findScheduleName, type RunStats, runStats, STATS_STEPS } from '@jadwal/db'
import type { RequestHandler } from 'express'
import { z } from 'zod'
import { At } from './answer-parts.ts'
import type { ApiDeps } from './api-deps.ts'
import { askHistory } from './ask.ts'
import type { Endpoints } from './endpoints.ts'
import { EXAMPLE } from './examples.ts'
import type { OperationDoc } from './operation.ts'
import { Problem } from './problem.ts'
import { readStatsQuery, StatsRequest } from './stats-query.ts'

const Times = z
  .strictObject({
    count: z.int().describe('How many runs say so.'),
    p50Ms: z.number().nullable(),
    p95Ms: z.number().nullable(),
    p99Ms: z.number().nullable(),
  })
  .meta({ id: 'Percentiles', description: 'In milliseconds, each within 5 %; null without runs.' })

const tally = {
  succeeded: z.int(),
  dead: z.int(),
  cancelled: z.int(),
  retries: z.int().describe('Attempts of these runs beyond the first of each.'),
  failureRate: z
    .number()
    .nullable()
    .describe('Dead of those that succeeded or died, 0 to 1; null when there are none.'),
  wait: Times.describe('From when runs were due to the start of their first attempts.'),
  duration: Times.describe('Of the attempts that ended the runs.'),
}

const StatsSchema = z
  .strictObject({
    from: At,
    to: At,
    step: z.enum(STATS_STEPS),
    totals: z.strictObject(tally),
    series: z
      .array(z.strictObject({ at: At, ...tally }))
      .describe('Steps in which a run ended, oldest first.'),
  })
  .meta({ id: 'Stats' })

const TALLY = {
  succeeded: 118,
  dead: 2,
  cancelled: 0,
  retries: 7,
  failureRate: 0.016_666_666_666_666_666,
  wait: { count: 120, p50Ms: 4.287, p95Ms: 20.36, p99Ms: 98.18 },
  duration: { count: 120, p50Ms: 128.4, p95Ms: 482.6, p99Ms: 1_138 },
}

const statsDoc: OperationDoc = {
  id: 'getStats',
  summary: 'How runs ended, and how long they waited and took',
  description:
    'Each run counts once, in the minute in which it ended. Ticks without a run do not count. The last hour, unless the query says otherwise.',
  query: StatsRequest,
  answers: {
    200: {
      description: 'Totals, and a series of whole steps.',
      schema: StatsSchema,
      example: {
        from: EXAMPLE.at,
        to: '2026-11-30T06:02:00.000Z',
        step: 'minute',
        totals: TALLY,
        series: [{ at: EXAMPLE.at, ...TALLY }],
      },
    },
  },
  problems: ['not-found'],
}

/** `/stats`: counts and percentiles of runs. */
export function addStatsRoutes(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/stats', { get: { role: 'viewer', doc: statsDoc, handle: statsHandler(deps) } })
}

function statsHandler({ db, searching, clock }: ApiDeps): RequestHandler {
  return async (req, res) => {
    const { schedule, ...range } = readStatsQuery(req.query, clock.now())
    const id = schedule === undefined ? undefined : await requireId(db, schedule)
    const stats = await searching(() =>
      runStats(db, { ...range, ...(id === undefined ? {} : { scheduleId: id }) }),
    )
    res.json(statsView(stats))
  }
}

async function requireId(db: ApiDeps['db'], name: string): Promise<string> {
  const found = await askHistory(() => findScheduleName(db, name))
  if (found) return found.id
  throw new Problem('not-found', { detail: `There is no schedule "${name}".` })
}

function statsView({ from, to, series, ...rest }: RunStats): z.infer<typeof StatsSchema> {
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    ...rest,
    series: series.map(({ at, ...point }) => ({ at: at.toISOString(), ...point })),
  }
}
