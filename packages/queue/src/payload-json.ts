import { InvalidRunError } from './errors.ts'

export interface PayloadJsonOptions {
  /** As of JSON.stringify. */
  replacer?: (key: string, value: unknown) => unknown
  /** The position of the run, where several were enqueued at once. */
  index?: number | undefined
}

/** A payload as JSON; none is null. Throws an `InvalidRunError` for what JSON cannot say, such as a circle. */
export function payloadJson(
  payload: unknown,
  { replacer, index }: PayloadJsonOptions = {},
): string {
  let problem = `a ${typeof payload}`
  let cause: unknown
  try {
    const json: string | undefined = JSON.stringify(payload ?? null, replacer)
    if (json !== undefined) return json
  } catch (error) {
    cause = error
    problem = firstLine(error)
  }
  const place = index === undefined ? 'payload' : `payloads.${index}`
  throw new InvalidRunError(`${place}: must be something that JSON can say: ${problem}`, { cause })
}

/** Of a circle V8 draws a picture below. */
function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0] ?? ''
}
