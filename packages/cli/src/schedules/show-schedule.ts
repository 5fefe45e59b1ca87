import { stateColor } from '../show/colors.ts'
import { jsonText, valueText } from '../show/json-text.ts'
import { oneLine } from '../show/one-line.ts'
import type { Output } from '../show/output.ts'
import type { Times } from '../show/times.ts'
import { cadenceText, type Pause, type ScheduleAnswer, stateOf } from './schedule-answer.ts'

export function pauseText(
  times: Times,
  { since, until, reason, author, everything }: Pause,
): string {
  return [
    everything ? 'all, ' : '',
    `since ${times.at(since)}`,
    until == null ? '' : ` until ${times.at(until)}`,
    author == null ? '' : ` by ${author}`,
    reason == null ? '' : `: ${reason}`,
  ].join('')
}

/** A schedule for people: what matters first, then every field that it has. */
export function showSchedule(output: Output, schedule: ScheduleAnswer): void {
  const { times } = output
  const { name, job, description, pause, nextTick, version, source, author, changedAt } = schedule
  const { warnings, payload, ...rest } = schedule
  const state = stateOf(schedule)
  output.raw(`${output.paint('bold', oneLine(name))}  ${output.paint(stateColor(state), state)}`)
  output.fields({
    description,
    job,
    cadence: cadenceText(schedule),
    'next tick': times.full(nextTick),
    pause: pause == null ? '' : pauseText(times, pause),
    version: `${version}, by ${author} on ${times.at(changedAt)}`,
    source,
    ...others(rest),
  })
  if (payload !== undefined) {
    output.heading('Payload')
    output.block(jsonText(payload))
  }
  for (const { message } of warnings ?? [])
    output.raw(output.paint('yellow', `\nWarning: ${oneLine(message)}`))
}

const TOLD = new Set(
  'name job description cron every timezone mode paused pause nextTick version source author changedAt createdAt id'.split(
    ' ',
  ),
)

function others(rest: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(rest).filter(([key, value]) => !TOLD.has(key) && value != null)
  return Object.fromEntries(entries.map(([key, value]) => [key, valueText(value)]))
}
