import type { OutboxEntry } from '@jadwal/queue'

export interface Fact {
  line: string
  entry: OutboxEntry
}

/** The facts of one statement, and the characters of their text. */
const MOST_FACTS = 4_000
const MOST_TEXT = 8 * 1024 * 1024

/**
 * Facts in their order, cut into what one statement takes: few enough, and short enough together. One
 * that is too long by itself has a slice of its own.
 */
export function* sliceFacts(facts: readonly Fact[]): Generator<Fact[]> {
  let slice: Fact[] = []
  let text = 0
  for (const fact of facts) {
    if (slice.length === MOST_FACTS || (slice.length > 0 && text + fact.line.length > MOST_TEXT)) {
      yield slice
      slice = []
      text = 0
    }
    slice.push(fact)
    text += fact.line.length
  }
  if (slice.length > 0) yield slice
}
