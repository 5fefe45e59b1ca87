import { localTime, nextTick, scheduleCadence, ScheduleSpec } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { describeCadence } from './cron-description.ts'
import type { Endpoints } from './endpoints.ts'
import { jsonBody } from './json-body.ts'
import { previewDoc, PreviewRequest } from './preview-request.ts'
import { parseRequest } from './zod-problem.ts'

/** `POST /cron/preview`: when a cadence ticks, from `from` on, that instant included, and in words. */
export function addCronPreviewRoute(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/cron/preview', {
    post: {
      role: 'viewer',
      audit: false,
      doc: previewDoc,
      handle: [...jsonBody('16kb'), previewHandler(deps)],
    },
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
