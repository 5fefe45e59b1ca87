import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, showList } from '../http/list.ts'
import { instant } from '../options/values.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import type { Column } from '../show/table.ts'

const Entry = z.looseObject({
  at: z.string(),
  actor: z.string(),
  role: z.string().nullish(),
  action: z.string(),
  subject: z.string().nullish(),
  status: z.union([z.number(), z.string()]),
  address: z.string().nullish(),
  request: z.unknown().optional(),
})
type Entry = z.infer<typeof Entry>

interface AuditOptions extends PagingOptions {
  actor?: string
  action?: string
  subject?: string
  from?: string
  to?: string
}

/** `jadwal audit`: who changed what. */
export function addAuditCommand(shell: Shell, program: Command): void {
  const past = instant(shell.terminal.clock, 'past')
  const audit = subcommand(program, 'audit', 'Show who changed what, the latest first')
    .option('--actor <name>')
    .option('--action <action>', 'such as schedules.pause')
    .option('--subject <path>', 'such as schedules/monthly-report')
    .option('--from <instant>', 'from then on: 2h (ago), 2026-12-01', past)
    .option('--to <instant>', 'before', past)
  apiCommand<AuditOptions>(shell, addPaging(audit), async (session, { options }) => {
    const { times } = session.output
    const columns: Column<Entry>[] = [
      { title: 'at', of: ({ at }) => times.at(at) },
      { title: 'who', of: ({ actor }) => actor },
      { title: 'role', of: ({ role }) => role },
      { title: 'action', of: ({ action }) => action },
      { title: 'subject', of: ({ subject }) => subject },
      {
        title: 'status',
        of: ({ status }) => status,
        color: ({ status }) => (Number(status) < 400 ? undefined : 'red'),
      },
      { title: 'from', of: ({ address }) => address },
      { title: 'request', of: ({ request }) => (request == null ? '' : JSON.stringify(request)) },
    ]
    const { actor, action, subject, from, to } = options
    const query = { actor, action, subject, from, to }
    const empty = 'No such entries.'
    await showList(session, { path: '/audit', query, item: Entry, columns, empty }, options)
  }).addHelpText('after', '\nExample: jadwal audit --subject schedules/monthly-report --from 7d')
}
