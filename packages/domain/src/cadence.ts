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
  if (kind === 'every') return { kind, everyMs: Number(rest[0]), offsetMs: Number(rest[1]) }
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
