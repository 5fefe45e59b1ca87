import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, parseAnswer, showList } from '../http/list.ts'
import { instant, rate, wholeNumber } from '../options/values.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { stateColor } from '../show/colors.ts'
import type { Column } from '../show/table.ts'
import { Backfill, followBackfill, runsText } from './follow-backfill.ts'

const Created = z.looseObject({ id: z.string(), schedule: z.string(), ticks: z.number() })

interface BackfillOptions {
  from: string
  to: string
  rate?: number
  concurrency?: number
  all: boolean
  wait: boolean
}

/** `jadwal schedules backfill`: asks for runs of ticks of the past, and may wait for their end. */
export function addBackfillCommand(shell: Shell, schedules: Command): void {
  const past = instant(shell.terminal.clock, 'past')
  const backfill = subcommand(schedules, 'backfill', 'Make runs for the ticks of a past range')
    .argument('<schedule>')
    .requiredOption('--from <instant>', 'from this one on', past)
    .option('--to <instant>', 'before this one (default: now)', past, past('now'))
    .option('--rate <number>', 'runs a second', rate)
    .option('--concurrency <count>', 'unfinished runs at once', wholeNumber(1, 1_000))
    .option('--all', 'also ticks that have a success, or an unfinished run', false)
    .option('--wait', 'until the last run has ended; 1 when one did not succeed', false)
  apiCommand<BackfillOptions>(shell, backfill, async (session, { args: [name = ''], options }) => {
    const { api, output } = session
    const { from, to, concurrency, all } = options
    const body = { from, to, rate: options.rate, concurrency, all }
    const answer = await api.post(`/schedules/${encodeURIComponent(name)}/backfill`, body)
    const { id, ticks } = parseAnswer(Created, answer)
    if (!options.wait) {
      output.either(answer, () => output.line(id))
      output.note(`${ticks} ticks; "jadwal backfills show ${id}" tells how far it is`)
      return 0
    }
    output.note(`Backfill ${id}, ${ticks} ticks`)
    return await followBackfill(session, id)
  }).addHelpText(
    'after',
    '\nExample: jadwal schedules backfill monthly-report --from 2026-09-01 --to 2026-12-01 --wait',
  )
}

/** `jadwal backfills`: watch them, pause them, cancel them. */
export function addBackfillsCommands(shell: Shell, program: Command): void {
  const backfills = subcommand(program, 'backfills', 'Watch backfills, pause and cancel them')
  const list = subcommand(backfills, 'list', 'List backfills, newest first').option(
    '--schedule <name>',
  )
  apiCommand<PagingOptions & { schedule?: string }>(
    shell,
    addPaging(list),
    async (session, { options }) => {
      const { times } = session.output
      const columns: Column<Backfill>[] = [
        { title: 'id', of: ({ id }) => id, isWhole: true },
        { title: 'schedule', of: ({ schedule }) => schedule },
        { title: 'state', of: ({ state }) => state, color: ({ state }) => stateColor(state) },
        { title: 'from', of: ({ from }) => times.at(from) },
        { title: 'to', of: ({ to }) => times.at(to) },
        { title: 'done', of: (each) => each.enqueued + each.skipped, align: 'right' },
        { title: 'ticks', of: ({ ticks }) => ticks, align: 'right' },
        { title: 'problem', of: ({ problem }) => problem },
      ]
      const query = { schedule: options.schedule }
      const empty = 'No backfills.'
      await showList(
        session,
        { path: '/backfills', query, item: Backfill, columns, empty },
        options,
      )
    },
  )
  const show = subcommand(backfills, 'show', 'Show how far a backfill is').argument('<id>')
  apiCommand(shell, show, async ({ api, output }, { args: [id = ''] }) => {
    const answer = await api.get(`/backfills/${encodeURIComponent(id)}`)
    const { from, to, position, runs, createdAt, finishedAt, ...rest } = parseAnswer(
      Backfill,
      answer,
    )
    const { times } = output
    output.either(answer, () =>
      output.fields({
        ...(rest as Record<string, string | number | boolean | null>),
        range: `${times.at(from)} to ${times.at(to)}`,
        position: times.at(position),
        runs: runsText(runs),
        created: times.full(createdAt),
        finished: times.full(finishedAt),
      }),
    )
  })
  for (const act of ['pause', 'resume', 'cancel'] as const) {
    const command = subcommand(backfills, act, ACTS[act]).argument('<id>')
    apiCommand(shell, command, async ({ api, output }, { args: [id = ''] }) => {
      const answer = await api.post(`/backfills/${encodeURIComponent(id)}/${act}`)
      const { state } = parseAnswer(Backfill, answer)
      output.either(answer, () => output.line(`${id} is ${state}`))
    })
  }
  const waiting = subcommand(backfills, 'wait', 'Wait for the last run of a backfill')
  apiCommand(shell, waiting.argument('<id>'), (session, { args: [id = ''] }) =>
    followBackfill(session, id),
  )
}

const ACTS = {
  pause: 'Enqueue no more of its runs for now',
  resume: 'Go on with it',
  cancel: 'End it; what was enqueued stays',
} as const
