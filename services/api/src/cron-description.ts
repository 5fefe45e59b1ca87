import { type Cadence, DAY, HOUR, MINUTE, type PlainCron, plainCron, SECOND } from '@jadwal/domain'
import cronstrue from 'cronstrue'

/**
 * A cadence in words; null where there are none that are sure to be right. cronstrue words only what
 * `plainCron` has written anew: of our dialect it would take steps that do not come out even, and the
 * two day fields, for something else.
 */
export function describeCadence(cadence: Cadence): string | null {
  if (cadence.kind === 'every') return describeInterval(cadence)
  const cron = plainCron(cadence.expression)
  return cron ? describeCron(cron) : null
}

function describeInterval({ everyMs, offsetMs }: { everyMs: number; offsetMs: number }): string {
  const every = `Every ${amount(everyMs).replace(/^1 /, '')}`
  return offsetMs === 0 ? every : `${every}, shifted by ${amount(offsetMs)}`
}

const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
  ['millisecond', 1],
] as const

function amount(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? (['millisecond', 1] as const)
  const count = ms / size
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function describeCron({ days, monthDays, months, weekDays, ...time }: PlainCron): string {
  const { seconds, minutes, hours } = time
  const words = inWords(`${seconds} ${minutes} ${hours} ${monthDays} * *`)
  return words + weekDayWords(weekDays, monthDays === '*' ? 'alone' : days) + monthWords(months)
}

function weekDayWords(weekDays: string, stands: 'alone' | PlainCron['days']): string {
  if (weekDays === '*') return ''
  const on = inWords(`0 0 0 * * ${weekDays}`)
    .slice(MIDNIGHT.length)
    .replace(/^only /, '')
  if (stands === 'alone') return `, ${on}`
  return stands === 'either'
    ? `, and also ${on}`
    : `, but only when that is ${on.replace(/^on /, '')}`
}

function monthWords(months: string): string {
  return months === '*' ? '' : `, ${inWords(`0 0 0 * ${months} *`).slice(MIDNIGHT.length)}`
}

const MIDNIGHT = 'At 00:00, '

function inWords(expression: string): string {
  return cronstrue.toString(expression, { use24HourTimeFormat: true })
}
