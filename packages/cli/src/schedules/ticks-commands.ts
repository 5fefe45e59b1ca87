import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, showList, showWholeList } from '../http/list.ts'
import { instant, wholeNumber } from '../options/values.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { stateColor } from '../show/colors.ts'
import type { Column } from '../show/table.ts'
import { roughly } from '../show/times.ts'

const NextTick = z.looseObject({
  tickAt: z.string(),
  local: z.string().nullish(),
  startsAt: z.string().nullish(),
  skipped: z.string().nullish(),
})

const LedgerTick = z.looseObject({
  tickAt: z.string(),
  verdict: z.string(),
  reason: z.string().nullish(),
  latenessMs: z.number().nullish(),
  late: z.boolean().nullish(),
  range: z.looseObject({ until: z.string(), ticks: z.number().nullish() }).nullish(),
  run: z.looseObject({ id: z.string(), state: z.string() }).nullish(),
})

interface TicksOptions extends PagingOptions {
  from?: string
  to?: string
}

/** `jadwal schedules next` and `ticks`: the ticks that will come, and what became of those that did. */
export function addTicksCommands(shell: Shell, schedules: Command): void {
  const next = subcommand(schedules, 'next', 'Show the next ticks of a schedule')
    .argument('<schedule>')
    .option('--count <count>', 'so many', wholeNumber(1, 1_000), 10)
  apiCommand<{ count: number }>(shell, next, async (session, { args: [name = ''], options }) => {
    const { times } = session.output
    const columns: Column<z.infer<typeof NextTick>>[] = [
      { title: 'tick', of: ({ tickAt }) => times.at(tickAt) },
      {
        title: 'in',
        of: ({ tickAt }) => times.relative(tickAt).replace(/^in /, ''),
        align: 'right',
      },
      { title: 'in its zone', of: ({ local }) => local?.replace('T', ' ') },
      {
        title: 'starts',
        of: ({ startsAt, tickAt }) => (startsAt === tickAt ? '' : times.at(startsAt)),
      },
      { title: 'skipped', of: ({ skipped }) => skipped, color: () => 'yellow' },
    ]
    const path = `/schedules/${encodeURIComponent(name)}/next`
    const query = { count: options.count }
    const empty = 'No tick will come.'
    await showWholeList(session, { path, query, item: NextTick, columns, empty })
  }).addHelpText('after', '\nExample: jadwal schedules next monthly-report --count 3')

  const past = instant(shell.terminal.clock, 'past')
  const ticks = subcommand(schedules, 'ticks', 'Show what became of the ticks of a schedule')
    .argument('<schedule>')
    .option('--from <instant>', 'from this one on (default: a day ago)', past)
    .option('--to <instant>', 'before this one', instant(shell.terminal.clock, 'future'))
  apiCommand<TicksOptions>(
    shell,
    addPaging(ticks),
    async (session, { args: [name = ''], options }) => {
      const { times } = session.output
      const columns: Column<z.infer<typeof LedgerTick>>[] = [
        { title: 'tick', of: ({ tickAt }) => times.at(tickAt) },
        {
          title: 'verdict',
          of: ({ verdict }) => verdict,
          color: ({ verdict }) => stateColor(verdict),
        },
        { title: 'reason', of: ({ reason }) => reason },
        {
          title: 'late',
          of: ({ latenessMs }) => (latenessMs ? roughly(latenessMs) : ''),
          align: 'right',
        },
        { title: 'run', of: ({ run }) => run?.id, isWhole: true },
        { title: 'state', of: ({ run }) => run?.state, color: ({ run }) => stateColor(run?.state) },
        {
          title: 'range',
          of: ({ range }) =>
            range == null ? '' : `${range.ticks ?? '?'} ticks, until ${times.at(range.until)}`,
        },
      ]
      const path = `/schedules/${encodeURIComponent(name)}/ticks`
      const query = { from: options.from, to: options.to }
      const empty = 'No tick in this period.'
      await showList(session, { path, query, item: LedgerTick, columns, empty }, options)
    },
  ).addHelpText('after', '\nExample: jadwal schedules ticks monthly-report --from 7d')
}
