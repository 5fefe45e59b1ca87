/**
 * An entry of a queue's last-ticks hash: the last tick of a schedule that was decided (ms), and
 * whether the schedule has since moved to another queue, in which case nothing fires here any more.
 */
export interface LastTick {
  ms: number
  moved: boolean
}

const MOVED = ':moved'

export function parseLastTick(text: string | null | undefined): LastTick | undefined {
  if (text == null) return undefined
  const ms = Number(text.replace(MOVED, ''))
  return Number.isFinite(ms) ? { ms, moved: text.endsWith(MOVED) } : undefined
}

export function formatLastTick(last: LastTick): string {
  return `${last.ms}${last.moved ? MOVED : ''}`
}

/** The field of the last-ticks hash that holds the highest term that fires into the queue. */
export const TERM_FIELD = 'term'
