import { RunState } from '@jadwal/domain'
import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, parseAnswer, showList } from '../http/list.ts'
import { durationMs, instant, label, oneOf } from '../options/values.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { addExplainCommand } from './explain.ts'
import { followRun } from './follow.ts'
import { RunAnswer } from './run-answer.ts'
import { runColumns } from './run-columns.ts'
import { showRun } from './show-run.ts'
import { addTailCommand } from './tail.ts'

/** `jadwal runs`: search, look at, cancel, retry, explain and watch runs. */
export function addRunsCommands(shell: Shell, program: Command): void {
  const runs = subcommand(program, 'runs', 'Search runs, look at them, cancel and retry them')
  addListCommand(shell, runs)
  const show = subcommand(runs, 'show', 'Show a run with its attempts and logs').argument('<id>')
  apiCommand(shell, show, async ({ api, output }, { args: [id = ''] }) => {
    const answer = await api.get(`/runs/${encodeURIComponent(id)}`)
    output.either(answer, () => showRun(output, parseAnswer(RunAnswer, answer)))
  }).addHelpText('after', '\nExample: jadwal runs show 019a2b3c-0000-7000-8000-000000000001')
  addActCommands(shell, runs)
  addExplainCommand(shell, runs)
  addTailCommand(shell, runs)
}

const isState = oneOf(...RunState.options)

function states(text: string, before: readonly string[] = []): string[] {
  return [...before, isState(text)]
}

interface ListOptions extends PagingOptions {
  job?: string
  queue?: string
  state?: string[]
  schedule?: string
  parent?: string
  backfill?: string
  error?: string
  key?: string
  late?: true
  label?: string[]
  from?: string
  to?: string
  q?: string
}

function addListCommand(shell: Shell, runs: Command): void {
  const past = instant(shell.terminal.clock, 'past')
  const list = subcommand(runs, 'list', 'Search runs, newest first')
    .option('--job <name>')
    .option('--queue <name>')
    .option('--state <state>', `again for more: ${RunState.options.join(', ')}`, states)
    .option('--schedule <name>')
    .option('--parent <id>', 'the run whose handler enqueued them')
    .option('--backfill <id>')
    .option('--error <name>', 'of the error that the last attempt ended with')
    .option('--key <text>', 'the idempotency key')
    .option('--late', 'only ticks that were found to be late')
    .option('--label <name:value>', 'again for more; all must hold', label)
    .option(
      '--from <instant>',
      'enqueued from then on: 2026-12-01, "2026-12-01 08:00", 2h (ago)',
      past,
    )
    .option('--to <instant>', 'enqueued before', past)
    .option(
      '-q, --q <words>',
      'words of the error or of searchable parts of the payload, an id or a key',
    )
  addPaging(list)
  apiCommand<ListOptions>(shell, list, async (session, { options }) => {
    const { job, queue, state, schedule, parent, backfill, error, key, late } = options
    const { from, to, q } = options
    const of = { job, queue, state, schedule, parent, backfill, error, late }
    const query = { ...of, idempotencyKey: key, label: options.label, from, to, q }
    const columns = runColumns(session.output)
    const request = { path: '/runs', query, item: RunAnswer, columns, empty: 'No such runs.' }
    await showList(session, request, options)
  }).addHelpText(
    'after',
    `
Examples:
  jadwal runs list --state dead --from 2h
  jadwal runs list --job email.send --label team:billing --all --json`,
  )
}

const Acted = z.looseObject({ id: z.string(), state: z.string(), redriveOf: z.string().optional() })

function addActCommands(shell: Shell, runs: Command): void {
  const cancel = subcommand(runs, 'cancel', 'Cancel runs that wait, or tell their workers to')
  apiCommand(shell, cancel.argument('<id...>'), async ({ api, output }, { args }) => {
    for (const id of args) {
      const answer = await api.post(`/runs/${encodeURIComponent(id)}/cancel`)
      const { state } = parseAnswer(Acted, answer)
      if (output.isJson) output.jsonLine(answer)
      else
        output.line(
          state === 'cancelled' ? `${id} is cancelled` : `${id} is told to stop by its worker`,
        )
    }
  })
  const retry = subcommand(
    runs,
    'retry',
    'Retry at once what waits for a retry; of a dead run, make a new one',
  )
  apiCommand(shell, retry.argument('<id...>'), async ({ api, output }, { args }) => {
    for (const id of args) {
      const answer = await api.post(`/runs/${encodeURIComponent(id)}/retry`)
      const done = parseAnswer(Acted, answer)
      if (output.isJson) output.jsonLine(answer)
      else
        output.line(
          done.redriveOf === undefined ? `${id} is due now` : `${id} is made again as ${done.id}`,
        )
    }
  })
  const waiting = subcommand(runs, 'wait', 'Wait for the end of a run; 1 when it did not succeed')
    .argument('<id>')
    .option('--timeout <duration>', 'no longer than this, such as 10m', durationMs)
  apiCommand<{ timeout?: number }>(shell, waiting, (session, { args: [id = ''], options }) =>
    followRun(session, id, options.timeout),
  )
}
