import { cronProblem, formatDuration, isTimezone } from '@jadwal/domain'
import { robfigStar, sameDays, starsForQuestionMarks } from './day-fields.ts'
import { goDurationMs } from './go-duration.ts'
import type { YamlMap } from './yaml-map.ts'

/** When a CronJob fires. */
export interface CronJobTime {
  cron?: string
  every?: string
  /** Absent when the CronJob names none. */
  timezone?: string
  notes: string[]
}

const SECOND_MS = 1_000

/** Reads `schedule` and `timeZone` of a CronJob's spec as Kubernetes does. Throws WrongFieldError. */
export function readCronJobTime(spec: YamlMap): CronJobTime {
  const written = spec.text('schedule')?.trim()
  if (!written) throw spec.missing('schedule', 'such as "30 2 * * *"')
  const [, prefix, zoneInside, schedule] = splitZone(written)
  const zone = spec.text('timeZone')
  if (zone !== undefined && !isTimezone(zone)) throw spec.wrong('timeZone', 'is no IANA time zone')
  if (zoneInside !== undefined && !isTimezone(zoneInside))
    throw spec.wrong('schedule', `"${zoneInside}" is no IANA time zone`)
  if (zone !== undefined && zoneInside !== undefined && zone !== zoneInside)
    throw spec.wrong(
      'schedule',
      `its zone is not that of timeZone, "${zone}"; Kubernetes takes one of them only`,
    )
  const timezone = zone ?? zoneInside
  const cadence = readCadence(spec, schedule)
  const deprecated = `the zone inside the schedule (${prefix}=${zoneInside}) is deprecated, and refused by newer Kubernetes; it became "timezone"`
  return {
    ...cadence,
    ...(timezone === undefined ? {} : { timezone }),
    notes: [...(zoneInside === undefined ? [] : [deprecated]), ...cadence.notes],
  }
}

function splitZone(written: string): [string, string | undefined, string | undefined, string] {
  const match = /^(CRON_TZ|TZ)=(\S*)\s*(.*)$/.exec(written)
  return match
    ? [written, match[1], match[2], match[3] ?? '']
    : [written, undefined, undefined, written]
}

function readCadence(
  spec: YamlMap,
  schedule: string,
): Pick<CronJobTime, 'cron' | 'every' | 'notes'> {
  if (schedule.startsWith('@every '))
    return readEvery(spec, schedule.slice('@every '.length).trim())
  const fields = schedule.split(/\s+/)
  if (!schedule.startsWith('@') && fields.length !== 5)
    throw spec.wrong(
      'schedule',
      `has ${fields.length} fields; Kubernetes takes 5: minute, hour, day of month, month, day of week`,
    )
  const written = starsForQuestionMarks(fields.join(' '))
  const cron = sameDays(written, robfigStar)
  const problem = cronProblem(cron)
  if (problem !== undefined) throw spec.wrong('schedule', problem)
  const days = `Kubernetes fires "${schedule}" when either day field matches (a "*" with a step is no "*" to it); Jadwal does so for "${cron}"`
  return { cron, notes: cron === written ? [] : [days] }
}

function readEvery(spec: YamlMap, text: string): Pick<CronJobTime, 'every' | 'notes'> {
  const ms = goDurationMs(text)
  if (ms === undefined) throw spec.wrong('schedule', `"${text}" is no duration such as 1h30m`)
  // Kubernetes' parser counts whole seconds, one at least.
  const every = formatDuration(Math.max(SECOND_MS, Math.floor(ms / SECOND_MS) * SECOND_MS))
  return {
    every,
    notes: [
      `fires at multiples of ${every} since 1970 in UTC; Kubernetes counted from when the CronJob was made ("offset" moves it)`,
    ],
  }
}
