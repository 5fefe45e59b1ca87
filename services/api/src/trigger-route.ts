import { ScheduleId, ScheduleSpec } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import type { ApiDeps } from './api-deps.ts'
import { noteChange } from './audit.ts'
import type { Endpoints } from './endpoints.ts'
import { JobCheck } from './job-check.ts'
import { bodyLimit, optionalJsonBody } from './json-body.ts'
import { Problem } from './problem.ts'
import { triggerDoc } from './schedule-acts-docs.ts'
import { requireSchedule } from './schedules-routes.ts'
import { TriggerRequest } from './trigger-request.ts'
import { parseRequest } from './zod-problem.ts'

/** `/schedules/{name}/trigger`: a run that belongs to no tick. */
export function addTriggerRoute(endpoints: Endpoints, deps: ApiDeps): void {
  endpoints.add('/schedules/:name/trigger', {
    post: {
      role: 'operator',
      doc: triggerDoc,
      handle: [...optionalJsonBody(bodyLimit(deps.maxPayloadBytes)), triggerHandler(deps)],
    },
  })
}

/**
 * A paused schedule can be triggered, and one before its start or after its end: who does so means it.
 * Only shadow mode promises that nothing is executed.
 */
function triggerHandler(deps: ApiDeps): RequestHandler {
  const jobs = new JobCheck(deps)
  return async (req, res) => {
    const request = parseRequest(TriggerRequest, req.body ?? {}, 'body')
    const schedule = await requireSchedule(deps, req.params['name'])
    const { name } = schedule
    const spec = ScheduleSpec.parse(schedule.spec)
    if (spec.mode === 'shadow') throw inShadow(name)
    const payload = request.payload === undefined ? spec.payload : request.payload
    const result = await deps.trigger.run({
      schedule: { id: ScheduleId.parse(schedule.id), name },
      job: await jobs.accept(spec.job, payload),
      spec,
      payload,
      overlap: request.overlap ?? spec.overlap,
    })
    if (!result.triggered) throw unfinished(name, result.unfinished)
    noteChange(res, { after: { run: result.id } })
    res.status(202).location(`/api/v1/runs/${result.id}`).json({ id: result.id, state: 'queued' })
  }
}

function inShadow(name: string): Problem {
  return new Problem('shadow', {
    detail: `${name} is in shadow mode: none of its runs is executed. Set "mode: live" first, or enqueue a run of its job.`,
  })
}

function unfinished(name: string, runId: string): Problem {
  const detail = `The run ${runId} of ${name} is unfinished, and the overlap policy is skip. Ask with another "overlap", such as allow or queue-latest, or wait.`
  return new Problem('overlap', { detail, more: { runId } })
}
