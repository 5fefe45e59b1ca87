import { runError } from '@jadwal/queue'
import { type Mask, maskValue } from './secret-mask.ts'

/** What a handler's progress may have, in bytes as JSON. */
const MOST_BYTES = 16 * 1024

/** Progress as it may be kept: masked, and replaced by a note where JSON cannot say it or it is too large. */
export function shownProgress(value: unknown, mask: Mask | undefined): unknown {
  try {
    const shown = mask ? maskValue(value, mask) : value
    const text = JSON.stringify(shown)
    const bytes = text === undefined ? 0 : Buffer.byteLength(text)
    return bytes <= MOST_BYTES ? shown : { truncated: true, bytes }
  } catch (error) {
    return { unserialisable: runError(error, mask).message }
  }
}
