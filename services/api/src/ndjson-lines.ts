import type { Readable } from 'node:stream'
import type { Turn } from './take-turns.ts'

/** A line of a stream of JSON, without its end. */
export interface Line {
  /** Its place in the stream, from 1. */
  number: number
  /** Undefined: it was longer than it may be. */
  text: string | undefined
}

export interface LineLimits {
  /** Of a line; a longer one has no text. */
  mostBytes: number
  /** Of a line that is longer, before the stream is given up. */
  mostPassedOver: number
  /** Of the stream, empty ones included. */
  mostLines: number
}

/** A stream that goes on behind what it may have. */
export class EndlessStreamError extends Error {
  override name = 'EndlessStreamError'
  readonly code = 'ENDLESS_STREAM'
}

const NEWLINE = 0x0a

/**
 * The lines of a stream, as many at a time as came in together; empty ones are counted and left out. Reads
 * on only when it is asked for more and it is its turn, and keeps at most one piece and `mostBytes` of a
 * line in memory.
 * Throws EndlessStreamError behind the last line that it may have.
 */
export async function* linesOf(
  stream: Readable,
  { mostBytes, mostPassedOver, mostLines }: LineLimits,
  turn: Turn,
): AsyncGenerator<Line[]> {
  let number = 0
  let begun: Buffer[] = []
  let bytes = 0
  const end = (lines: Line[], last: Buffer): void => {
    number += 1
    if (bytes + last.length === 0) return
    bytes += last.length
    const text = bytes > mostBytes ? undefined : Buffer.concat([...begun, last]).toString()
    if (text === undefined || text.trim() !== '') lines.push({ number, text })
    begun = []
    bytes = 0
  }
  // Who stops reading has still to answer.
  const pieces: AsyncIterable<Buffer> = stream.iterator({ destroyOnReturn: false })
  for await (const piece of pieces) {
    await turn()
    const lines: Line[] = []
    let from = 0
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, from)) {
      if (number === mostLines) break
      end(lines, piece.subarray(from, at))
      from = at + 1
    }
    const rest = piece.subarray(from)
    bytes += rest.length
    // What is too long is counted, and not kept.
    if (bytes > mostBytes) begun = []
    else if (rest.length > 0) begun.push(rest)
    if (lines.length > 0) yield lines
    if (number === mostLines && rest.length > 0)
      throw new EndlessStreamError(`A stream has at most ${mostLines} lines`)
    if (bytes > Math.max(mostBytes, mostPassedOver))
      throw new EndlessStreamError(
        `Line ${number + 1} goes on behind ${mostPassedOver} bytes, and a line has at most ${mostBytes}`,
      )
  }
  const lines: Line[] = []
  if (bytes > 0) end(lines, Buffer.alloc(0))
  if (lines.length > 0) yield lines
}
