import { localTime, nextTick, scheduleCadence, ScheduleSpec } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import { z } from 'zod'
import type { ApiDeps } from './api-deps.ts'
import { describeCadence } from './cron-description.ts'
import type { Endpoints } from './endpoints.ts'
import { jsonBody } from './json-body.ts'
import { Instant } from './run-query.ts'
import { parseRequest } from './zod-problem.ts'

const DEFAULT_COUNT = 10
const COUNT_RULE = 'must be a whole number from 1 to 1000'

/** What a cadence means is for the rules of a schedule to say. */
const PreviewRequest = z.strictObject({
  cron: z.unknown().optional(),
  every: z.unknown().optional(),
  offset: z.unknown().optional(),
  timezone: z.unknown().optional(),
  dst: z.unknown().optional(),
  from: Instant.optional(),
  count: z.int(COUNT_RULE).min(1, COUNT_RULE).max(1_000, COUNT_RULE).default(DEFAULT_COUNT),
})

/** `POST /cron/preview`: when a cadence ticks, from `from` on, that instant included, and in words. */
export function addCronPreviewRoute(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/cron/preview', {
    post: { role: 'viewer', handle: [...jsonBody('16kb'), previewHandler(deps)] },
  })
}

function previewHandler({ clock }: ApiDeps): RequestHandler {
  return (req, res) => {
    const { from, count, ...rule } = parseRequest(PreviewRequest, req.body, 'body')
    const spec = parseRequest(ScheduleSpec, { ...rule, job: 'preview' }, 'body')
    const cadence = scheduleCadence(spec)
    const ticks: number[] = []
    let tick = nextTick(cadence, (from ?? clock.now()).getTime() - 1)
    while (tick !== undefined && ticks.length < count) {
      ticks.push(tick)
      tick = nextTick(cadence, tick)
    }
    res.json({
      description: describeCadence(cadence),
      ticks: ticks.map((at) => new Date(at).toISOString()),
      local: ticks.map((at) => localTime(at, spec.timezone)),
    })
  }
}
