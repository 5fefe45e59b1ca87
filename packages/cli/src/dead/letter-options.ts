import type { Command } from 'commander'
import { UsageError } from '../http/api-errors.ts'
import { instant } from '../options/values.ts'
import type { Shell } from '../session.ts'

export interface LetterFilter {
  queue?: string
  job?: string
  fingerprint?: string
  from?: string
  to?: string
}

/** Options that say which dead letters are meant. */
export function addLetterFilter(shell: Shell, command: Command): Command {
  const past = instant(shell.terminal.clock, 'past')
  return command
    .option('--queue <name>')
    .option('--job <name>')
    .option('--fingerprint <hex>', 'what they died of, as "jadwal dead groups" has it')
    .option('--from <instant>', 'died from then on: 2h (ago), "2026-12-01 08:00"', past)
    .option('--to <instant>', 'died before', past)
}

export function filterOf({ queue, job, fingerprint, from, to }: LetterFilter): LetterFilter {
  return Object.fromEntries(
    Object.entries({ queue, job, fingerprint, from, to }).filter(
      ([, value]) => value !== undefined,
    ),
  )
}

export type Which = { ids: readonly string[] } | { filter: LetterFilter } | { all: true }

/** Which letters an act is for, as the api wants it. Throws UsageError unless it is said in one way. */
export function whichOf(
  act: string,
  ids: readonly string[],
  options: LetterFilter & { all: boolean },
): Which {
  const filter = filterOf(options)
  const hasFilter = Object.keys(filter).length > 0
  const ways = [ids.length > 0, hasFilter, options.all].filter(Boolean).length
  if (ways !== 1)
    throw new UsageError(
      `say which dead letters to ${act}: their ids, or a filter such as --queue or --fingerprint, or --all; one of the three`,
    )
  if (ids.length > 0) return { ids }
  return hasFilter ? { filter } : { all: true }
}

export function whichText(which: Which): string {
  if ('ids' in which) return `${which.ids.length} dead letters`
  if ('all' in which) return 'all dead letters'
  const said = Object.entries(which.filter).map(([name, value]) => `${name} ${String(value)}`)
  return `all dead letters of ${said.join(', ')}`
}
