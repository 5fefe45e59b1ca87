import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, showList } from '../http/list.ts'
import { oneOf } from '../options/values.ts'
import { errorText, RunAnswer } from '../runs/run-answer.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import type { Column } from '../show/table.ts'
import { addDiscardCommand } from './discard-command.ts'
import { addLetterFilter, filterOf, type LetterFilter } from './letter-options.ts'
import { addRedriveCommand } from './redrive-commands.ts'

const Group = z.looseObject({
  fingerprint: z.string(),
  job: z.string(),
  queue: z.string(),
  error: z.string().nullish(),
  message: z.string().nullish(),
  count: z.number(),
  lastAt: z.string(),
  example: z.string().nullish(),
})

/** `jadwal dead`: what died, of what, and what becomes of it. */
export function addDeadCommands(shell: Shell, program: Command): void {
  const dead = subcommand(program, 'dead', 'Look at dead letters, redrive and discard them')
  addListCommand(shell, dead)
  addGroupsCommand(shell, dead)
  addRedriveCommand(shell, dead)
  addDiscardCommand(shell, dead)
}

function addListCommand(shell: Shell, dead: Command): void {
  const list = subcommand(dead, 'list', 'List dead letters, newest first').option(
    '--settled <which>',
    'those redriven or discarded: yes, no (default) or any',
    oneOf('yes', 'no', 'any'),
  )
  addPaging(addLetterFilter(shell, list))
  type Options = PagingOptions & LetterFilter & { settled?: string }
  apiCommand<Options>(shell, list, async (session, { options }) => {
    const { times } = session.output
    const columns: Column<RunAnswer>[] = [
      { title: 'id', of: ({ id }) => id, isWhole: true },
      { title: 'job', of: ({ job }) => job },
      { title: 'queue', of: ({ queue }) => queue },
      { title: 'died', of: ({ finishedAt }) => times.at(finishedAt) },
      { title: 'fingerprint', of: ({ fingerprint }) => fingerprint, isWhole: true },
      { title: 'reason', of: ({ reason }) => reason },
      { title: 'error', of: ({ error }) => errorText(error) },
      { title: 'settled', of: settledText },
    ]
    const query = { ...filterOf(options), settled: options.settled }
    const empty = 'No dead letters.'
    await showList(
      session,
      { path: '/dead-letters', query, item: RunAnswer, columns, empty },
      options,
    )
  }).addHelpText('after', '\nExample: jadwal dead list --queue emails --from 1d')
}

function settledText({ redrivenAs, discarded }: RunAnswer): string {
  if (redrivenAs != null) return `redriven as ${redrivenAs}`
  return discarded == null ? '' : `discarded by ${discarded.by}`
}

function addGroupsCommand(shell: Shell, dead: Command): void {
  const groups = subcommand(
    dead,
    'groups',
    'Show what runs died of, of the last 7 days unless told',
  )
  addPaging(addLetterFilter(shell, groups))
  apiCommand<PagingOptions & LetterFilter>(shell, groups, async (session, { options }) => {
    const { times } = session.output
    const columns: Column<z.infer<typeof Group>>[] = [
      { title: 'count', of: ({ count }) => count, align: 'right' },
      { title: 'fingerprint', of: ({ fingerprint }) => fingerprint, isWhole: true },
      { title: 'job', of: ({ job }) => job },
      { title: 'queue', of: ({ queue }) => queue },
      { title: 'last', of: ({ lastAt }) => times.at(lastAt) },
      {
        title: 'error',
        of: ({ error, message }) => [error, message].filter((part) => part != null).join(': '),
      },
    ]
    const query = { ...filterOf(options) }
    const empty = 'No dead letters in this time.'
    await showList(
      session,
      { path: '/dead-letters/groups', query, item: Group, columns, empty },
      options,
    )
  }).addHelpText('after', '\nExample: jadwal dead groups --from 30d')
}
