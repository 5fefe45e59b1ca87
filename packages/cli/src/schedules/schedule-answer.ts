import { z } from 'zod'

const Text = z.string().nullish()

export const Pause = z.looseObject({
  since: Text,
  until: Text,
  reason: Text,
  author: Text,
  everything: z.boolean().nullish(),
})
export type Pause = z.infer<typeof Pause>

/** A schedule, as far as it is shown here. */
export const ScheduleAnswer = z.looseObject({
  name: z.string(),
  job: z.string(),
  description: Text,
  cron: Text,
  every: z.unknown().optional(),
  timezone: Text,
  mode: Text,
  paused: z.boolean().nullish(),
  pause: Pause.nullish(),
  nextTick: Text,
  version: z.number(),
  source: Text,
  author: Text,
  changedAt: Text,
  warnings: z.array(z.looseObject({ message: z.string() })).nullish(),
})
export type ScheduleAnswer = z.infer<typeof ScheduleAnswer>

/** `0 6 * * * Asia/Jakarta`, `every 90s`. */
export function cadenceText({
  cron,
  every,
  timezone,
}: Pick<ScheduleAnswer, 'cron' | 'every' | 'timezone'>): string {
  return cron == null ? `every ${String(every)}` : `${cron} ${timezone ?? ''}`.trim()
}

export function stateOf({ paused, pause, mode, nextTick }: ScheduleAnswer): string {
  if (paused || pause != null) return 'paused'
  if (mode === 'shadow') return 'shadow'
  return nextTick == null ? 'over' : 'live'
}
