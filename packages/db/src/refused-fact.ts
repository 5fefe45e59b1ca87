/**
 * SQLSTATE classes that say that a value is wrong: cardinality (21), data (22, also `\u0000` in JSON),
 * constraints (23), limits such as nesting too deep (54). Everything else is an outage or a mistake
 * of ours, and goes away or is repaired while the facts wait.
 */
const OF_VALUES = /^(21|22|23|54)/

/**
 * Whether Postgres refused what it was given, or what it should be given is longer than a string can
 * be (RangeError): either way giving it again is no use.
 */
export function refusedFact(error: unknown): boolean {
  if (error instanceof RangeError) return true
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && OF_VALUES.test(code)
}
