import { setImmediate } from 'node:timers/promises'
import type { ScheduleSpec } from '@jadwal/domain'
import {
  checkScheduledJobs,
  PayloadCheck,
  plainlyEncrypted,
  readCatalogue,
  type ScheduledJobProblem,
} from '@jadwal/queue'
import type { ApiDeps } from './api-deps.ts'
import { askRedis } from './ask.ts'
import { scheduleProblem } from './schedule-problems.ts'
import { plainPayload, type PlainPayloadWarning } from './schedule-warnings.ts'

/** Others are answered each time so many are looked at. */
const AT_ONCE = 500

/** Looks whether workers serve what schedules ask for. */
export class ScheduleJobs {
  readonly #deps: Pick<ApiDeps, 'redis' | 'prefix'>
  readonly #payloads = new PayloadCheck()

  constructor(deps: Pick<ApiDeps, 'redis' | 'prefix'>) {
    this.#deps = deps
  }

  /**
   * Throws a `Problem` that names each schedule whose job no worker serves, or whose payload does not
   * fit it. `base` is left out of the fields' names. Resolves to what is fine and should be looked at.
   */
  async check(
    schedules: readonly { name: string; spec: ScheduleSpec }[],
    base = '',
  ): Promise<PlainPayloadWarning[]> {
    const { redis, prefix } = this.#deps
    const jobs = await askRedis(() => readCatalogue(redis, prefix))
    const found: ScheduledJobProblem[] = []
    for (let at = 0; at < schedules.length; at += AT_ONCE) {
      if (at > 0) await setImmediate()
      const slice = schedules.slice(at, at + AT_ONCE)
      found.push(...checkScheduledJobs(jobs, slice, this.#payloads))
    }
    if (found.length === 0)
      return plainlyEncrypted(jobs, schedules).map(({ name }) => plainPayload(name))
    const kind = found.some(({ isUnknownJob }) => isUnknownJob) ? 'unknown-job' : 'invalid-payload'
    throw scheduleProblem(
      kind,
      found.map(({ field, message, value }) => ({
        field: field.startsWith(base) ? field.slice(base.length) : field,
        message,
        value,
      })),
    )
  }
}
