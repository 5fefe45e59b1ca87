/** The rule that produces ticks. */
export type Cadence =
  | {
      kind: 'cron'
      expression: string
      timezone: string
      gap: 'shift' | 'skip'
      fold: 'once' | 'twice'
    }
  | { kind: 'every'; everyMs: number; offsetMs: number }

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
