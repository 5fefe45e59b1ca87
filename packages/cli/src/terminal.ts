import type { Clock } from '@jadwal/domain'

/** Where a command reads and writes, and what it knows of the host. */
export interface Terminal {
  readFile: (path: string) => Promise<string>
  /** All of standard input. */
  readInput: () => Promise<string>
  writeOutput: (text: string) => void
  writeError: (text: string) => void
  /** Asks a person and gives the answer; undefined where nobody can be asked. */
  ask: (question: string) => Promise<string | undefined>
  /** Lets a person edit a text, and gives what it is then; undefined where nobody can. */
  edit: (name: string, before: string) => Promise<string | undefined>
  /** Lets another program of the project take over this process. */
  become: (file: string) => Promise<void>
  env: Readonly<Record<string, string | undefined>>
  /** How wide standard output is, in columns; undefined when it is no terminal. */
  outputColumns: () => number | undefined
  /** How wide standard error is, likewise. */
  errorColumns: () => number | undefined
  /** The IANA time zone of the host. */
  timezone: string
  clock: Clock
  /** Aborted by Ctrl-C; with READER_GONE when nobody reads any more. */
  stop: AbortSignal
}

/** Why a command stops whose reader, such as head, has seen enough. It is no error. */
export const READER_GONE = 'nobody reads any more'
