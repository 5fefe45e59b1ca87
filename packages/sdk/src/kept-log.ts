import type { Clock, LogLine } from '@jadwal/domain'
import type { JobLog } from './job-context.ts'
import type { Mask } from './secret-mask.ts'
import { shownFacts, shownText } from './shown-facts.ts'

/** What is kept of one attempt's log: its last lines, and so many bytes of JSON in all. */
const MOST_LINES = 100
const MOST_BYTES = 16 * 1024
const LONGEST_MESSAGE = 2_000
const LONGEST_FACTS = 4_000
const SHOWN_OF_LONG_FACTS = 1_000

/** Keeps the last lines that a handler logs, with secrets masked, whatever level the worker's log has. */
export class KeptLog {
  readonly #clock: Clock
  readonly #mask: Mask | undefined
  /** As JSON, so that what a handler changes later is as it was. */
  #lines: string[] = []
  #bytes = 0
  #dropped = 0

  constructor(clock: Clock, mask: Mask | undefined) {
    this.#clock = clock
    this.#mask = mask
  }

  /** Never throws. `first` is the sentence, or what is said beside it. */
  add(level: LogLine['level'], first: unknown, message: unknown): void {
    const line: LogLine = {
      at: this.#clock.now().toISOString(),
      level,
      ...(isFacts(first)
        ? { message: this.#text(message ?? messageOf(first)), facts: this.#facts(first) }
        : { message: this.#text(first) }),
    }
    const json = JSON.stringify(line)
    this.#lines.push(json)
    this.#bytes += Buffer.byteLength(json)
    while (this.#lines.length > MOST_LINES || this.#bytes > MOST_BYTES) {
      this.#bytes -= Buffer.byteLength(this.#lines.shift() ?? '')
      this.#dropped += 1
    }
  }

  /** JSON of the lines, the first of which tells how many were dropped; undefined when there are none. */
  toJson(): string | undefined {
    if (this.#lines.length === 0) return undefined
    if (this.#dropped === 0) return `[${this.#lines.join(',')}]`
    const first: LogLine = {
      at: this.#clock.now().toISOString(),
      level: 'warn',
      message: `${this.#dropped} earlier lines were dropped`,
    }
    return `[${[JSON.stringify(first), ...this.#lines].join(',')}]`
  }

  #text(value: unknown): string {
    const text = typeof value === 'string' ? value : textOf(value)
    return shownText(text, this.#mask, LONGEST_MESSAGE)
  }

  /** What is said beside a sentence, as it is kept. */
  shown(facts: unknown): unknown {
    return shownFacts(isError(facts) ? { err: facts } : facts, this.#mask)
  }

  #facts(facts: object): unknown {
    const shown = this.shown(facts)
    const json = JSON.stringify(shown)
    return json.length <= LONGEST_FACTS
      ? shown
      : { truncated: true, head: json.slice(0, SHOWN_OF_LONG_FACTS) }
  }
}

/** A handler's log: its lines go where they go, and are kept. */
export function keptLog(log: JobLog, kept: KeptLog): JobLog {
  const method =
    (level: LogLine['level']) =>
    (first: string | object, message?: string): void => {
      kept.add(level, first, message)
      try {
        if (typeof first === 'string') log[level](first)
        else log[level](first, message)
      } catch {
        // What can't be written as it is, because it throws when it is looked at, is written as it is kept.
        log[level]({ facts: kept.shown(first) }, message)
      }
    }
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
  }
}

function isFacts(value: unknown): value is object {
  return value !== null && typeof value === 'object'
}

function isError(value: unknown): value is Error {
  try {
    return value instanceof Error
  } catch {
    return false
  }
}

function messageOf(facts: object): string {
  try {
    return isError(facts) ? facts.message : ''
  } catch {
    return ''
  }
}

function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    return ''
  }
}
