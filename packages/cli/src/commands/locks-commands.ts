import type { Command } from 'commander'
import { z } from 'zod'
import { showWholeList } from '../http/list.ts'
import { confirm } from '../options/confirm.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import type { Column } from '../show/table.ts'
import { roughly } from '../show/times.ts'

const Lock = z.looseObject({
  id: z.string(),
  kind: z.string(),
  holder: z.string(),
  job: z.string().nullish(),
  lot: z.string().nullish(),
  term: z.number().nullish(),
  since: z.string().nullish(),
  expiresInMs: z.number().nullish(),
  stale: z.boolean(),
})
type Lock = z.infer<typeof Lock>

/** What follows when a lock is taken, by the beginning of its id. */
const FOLLOWS: Readonly<Record<string, string>> = {
  leader:
    'The leader is stopped in the middle of what it does, and another scheduler takes over and catches up; alone, it takes the lease again itself. No tick gets two runs, as what the old one still sends is refused. "jadwal leader step-down" is the gentle way; this is for a leader that is frozen.',
  alerts: 'Another api, or the same one, evaluates the alerts from its next look on.',
  slot: 'The slot goes to the next run of its key that waits. A slot whose run lives is refused.',
  attempt:
    'The lock of an attempt is never taken: the run would be made twice at once. "jadwal runs cancel" ends it.',
}

/** `jadwal locks`: who holds what, for somebody who wonders what everything waits for. */
export function addLocksCommands(shell: Shell, program: Command): void {
  const locks = subcommand(
    program,
    'locks',
    'Show who holds leases, slots and attempts; release what is stuck',
  )
  apiCommand(shell, subcommand(locks, 'list', 'List what is held'), async (session) => {
    const { times } = session.output
    const columns: Column<Lock>[] = [
      { title: 'lock', of: ({ id }) => id, isWhole: true },
      { title: 'held by', of: ({ kind, holder }) => (kind === 'leader' ? holder : '') },
      { title: 'of', of: ({ job, lot }) => lot ?? job },
      { title: 'since', of: ({ since }) => times.at(since) },
      {
        title: 'for',
        of: ({ since }) => times.relative(since).replace(/ ago$/, ''),
        align: 'right',
      },
      {
        title: 'ends in',
        of: ({ expiresInMs }) => (expiresInMs == null ? '' : roughly(expiresInMs)),
        align: 'right',
      },
      {
        title: 'holder',
        of: ({ stale }) => (stale ? 'gone' : 'lives'),
        color: ({ stale }) => (stale ? 'red' : 'green'),
      },
    ]
    const empty = 'Nothing is held: no scheduler leads, and nothing runs.'
    await showWholeList(session, { path: '/locks', item: Lock, columns, empty })
  })
  const release = subcommand(
    locks,
    'release',
    'Take a lock from a holder that is frozen or gone (admins)',
  )
    .argument('<lock>', 'as "jadwal locks list" has it')
    .option('--yes', 'without being asked', false)
  apiCommand<{ yes: boolean }>(shell, release, async (session, { args: [id = ''], options }) => {
    const { api, output, terminal } = session
    const follows = FOLLOWS[id.split(':')[0] ?? ''] ?? 'Whoever waits for it goes on.'
    await confirm(terminal, `This takes ${id} from its holder. ${follows}`, options)
    await api.send(`/locks/${encodeURIComponent(id)}`, { method: 'DELETE' })
    output.either({ id, released: true }, () => output.line(`${id} is released`))
  }).addHelpText('after', '\nExample: jadwal locks release leader')
}
