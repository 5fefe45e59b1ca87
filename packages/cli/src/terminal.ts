import type { Clock } from '@jadwal/domain'

/** Where a command reads and writes. */
export interface Terminal {
  readFile: (path: string) => Promise<string>
  /** All of standard input. */
  readInput: () => Promise<string>
  writeOutput: (text: string) => void
  writeError: (text: string) => void
  /** The IANA time zone of the host. */
  timezone: string
  clock: Clock
}
