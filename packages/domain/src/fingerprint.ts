import { hash } from 'node:crypto'
import type { RunError } from './run.ts'

/** What follows tells no more of the cause, and costs time. */
const MOST_TEXT = 1_000

/**
 * What differs between two deaths of one cause, longest form first, and what stands for it. Every
 * pattern goes through a text once.
 */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  // Values in quotes; an apostrophe within a word is none.
  [/"[^"\n]*"|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)/g, '<value>'],
  // The query of an address.
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s?#]+)[?#]\S*/gi, '$1'],
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '<email>'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<id>'],
  [
    /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d)\b)?)?/g,
    '<time>',
  ],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b/g, '<time>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '<address>'],
  [
    /\[?(?<![\w:])(?:[0-9a-f]{1,4}:|::)(?:[0-9a-f]{0,4}:){1,6}[0-9a-f]{0,4}(?![\w:])(?:\](?::\d+)?)?/gi,
    '<address>',
  ],
  [/\b0x[0-9a-f]+\b/gi, '<id>'],
  // What has both letters and digits and is long, as hashes, keys and names of temporary files.
  [/\b(?=[a-z_]*\d)(?=\d*[a-z_])[a-z0-9_]{8,}\b/gi, '<id>'],
  [/\d+(?:[.,]\d+)*/g, '<n>'],
  [/\s+/g, ' '],
]

/** A message without what differs between two errors of one cause: numbers, ids, values, addresses, times. */
export function normalisedMessage(message: string): string {
  const text = VARIABLE.reduce(
    (rest, [pattern, stand]) => rest.replace(pattern, stand),
    message.slice(0, MOST_TEXT),
  )
  return text.trim()
}

/**
 * What a run died of: 16 hex digits that are the same for all runs of a job whose errors have the same
 * class and, but for what varies in it, the same message.
 */
export function fingerprint(job: string, error: Pick<RunError, 'name' | 'message'>): string {
  const cause = [job, error.name, normalisedMessage(error.message)].join('\0')
  return hash('sha256', cause).slice(0, 16)
}
