const UNIT_MS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
}
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g

/** Milliseconds of a duration as Go writes them, `1h30m`; undefined when it is none. */
export function goDurationMs(text: string): number | undefined {
  if (text.replaceAll(PART, '') !== '' || text === '') return undefined
  const parts = [...text.matchAll(PART)]
  return parts.reduce(
    (sum, [, number, unit = '']) => sum + Number(number) * (UNIT_MS[unit] ?? 0),
    0,
  )
}
