import { cronProblem, parseCron } from './cron.ts'

/** The rule that produces ticks. */
export type Cadence = CronCadence | { kind: 'every'; everyMs: number; offsetMs: number }

export interface CronCadence {
  kind: 'cron'
  expression: string
  timezone: string
  /** Of wall times that a clock change leaves out. */
  gap: 'shift' | 'skip'
  /** Of wall times that a clock change brings twice. */
  fold: 'once' | 'twice'
}

/** Where the clock of an expression hangs, and what becomes of ticks when it is changed. */
export type CronRule = Pick<CronCadence, 'timezone' | 'gap' | 'fold'>

/** The cadence of a cron expression; `@every 90s` makes the interval that `every: 90s` makes. */
export function cronCadence(expression: string, rule: CronRule): Cadence {
  const everyMs = cronProblem(expression) === undefined ? parseCron(expression).everyMs : undefined
  if (everyMs !== undefined) return { kind: 'every', everyMs, offsetMs: 0 }
  return { kind: 'cron', expression: expression.trim().split(/\s+/).join(' '), ...rule }
}

/** One text per distinct cadence: equal keys, equal ticks. Parsed back by `parseCadenceKey`. */
export function cadenceKey(cadence: Cadence): string {
  return cadence.kind === 'every'
    ? `every ${cadence.everyMs} ${cadence.offsetMs}`
    : `cron ${cadence.timezone} ${cadence.gap} ${cadence.fold} ${cadence.expression}`
}

/** The cadence of a key. Throws on a text that `cadenceKey` did not make. */
export function parseCadenceKey(key: string): Cadence {
  const [kind, ...rest] = key.split(' ')
  const [everyMs, offsetMs] = rest.map(Number)
  if (kind === 'every' && everyMs && offsetMs !== undefined && Number.isFinite(everyMs + offsetMs))
    return { kind, everyMs, offsetMs }
  const [timezone, gap, fold, ...expression] = rest
  if (
    kind !== 'cron' ||
    !timezone ||
    (gap !== 'shift' && gap !== 'skip') ||
    (fold !== 'once' && fold !== 'twice')
  ) {
    throw new Error(`no cadence key: ${key}`)
  }
  return { kind, timezone, gap, fold, expression: expression.join(' ') }
}
