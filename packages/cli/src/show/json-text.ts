/** A value as JSON on one line, or over several where it is long. */
export function jsonText(value: unknown): string {
  const short = JSON.stringify(value) ?? ''
  return short.length <= 72 ? short : JSON.stringify(value, null, 2)
}

/** A value on one line: texts as they are, all else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** `team:billing region:eu` */
export function labelsText(labels: Readonly<Record<string, string>> | null | undefined): string {
  return Object.entries(labels ?? {})
    .map(([name, value]) => `${name}:${value}`)
    .join(' ')
}
