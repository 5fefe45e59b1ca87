import { runError } from './run-error.ts'

/** Room for the 64 KiB of output that a command may leave, as JSON and with something around it. */
export const MAX_RESULT_BYTES = 128 * 1024
const HEAD_LENGTH = 4 * 1024

/**
 * A handler's result as JSON; undefined when there is none. What JSON cannot say or what is too large
 * is replaced by an object that says so: the run did succeed.
 */
export function resultText(result: unknown): string | undefined {
  if (result === undefined) return undefined
  let text: string | undefined
  try {
    text = JSON.stringify(result)
  } catch (error) {
    return JSON.stringify({ unserialisable: runError(error).message })
  }
  if (text === undefined) return text
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_RESULT_BYTES) return text
  return JSON.stringify({ truncated: true, bytes, head: text.slice(0, HEAD_LENGTH) })
}
