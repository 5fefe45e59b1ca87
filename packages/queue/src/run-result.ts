import { runError } from './run-error.ts'

/** Room for the 64 KiB of output that a command may leave, as JSON and with something around it. */
export const MAX_RESULT_LENGTH = 128 * 1024
const HEAD_LENGTH = 16 * 1024

/**
 * A handler's result as JSON; undefined when there is none. What JSON cannot say or what is too long
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
  if (text === undefined || text.length <= MAX_RESULT_LENGTH) return text
  return JSON.stringify({ truncated: true, length: text.length, head: text.slice(0, HEAD_LENGTH) })
}
