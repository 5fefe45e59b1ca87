const LONGEST_MS = 3_600_000

/**
 * The wait in ms that a `Retry-After` header asks for, at most an hour; undefined without one that
 * can be read. A date counts from `now`: the answer's own `Date` where it has one, so that two clocks
 * are never compared.
 */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, LONGEST_MS)
  const at = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) return undefined
  return Math.min(Math.max(0, at - now.getTime()), LONGEST_MS)
}
