/** A longer result is not worth the worker's time: what is kept of it is much less. */
const LONGEST = 1024 * 1024

/** What a handler returned, as JSON; undefined when there is none. Where JSON can't say it, an object that says so. */
export function resultOf(value: unknown): string | undefined {
  let json: string | undefined
  try {
    json = JSON.stringify(value)
  } catch (error) {
    return JSON.stringify({
      unserialisable: error instanceof Error ? error.message : String(error),
    })
  }
  if (json === undefined || json.length <= LONGEST) return json
  return JSON.stringify({ truncated: true, length: json.length, head: '' })
}
