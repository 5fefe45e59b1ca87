import type { Command } from 'commander'
import { addPaging, type PagingOptions, parseAnswer, showList } from '../http/list.ts'
import { label, oneOf } from '../options/values.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import { stateColor } from '../show/colors.ts'
import type { Output } from '../show/output.ts'
import type { Column } from '../show/table.ts'
import { addActsCommands } from './acts-commands.ts'
import { addBackfillCommand } from './backfill-commands.ts'
import { addEditCommands } from './edit-commands.ts'
import { addFileCommands } from './file-commands.ts'
import { addLoadCommand } from './load-command.ts'
import { cadenceText, ScheduleAnswer, stateOf } from './schedule-answer.ts'
import { pauseText, showSchedule } from './show-schedule.ts'
import { addTicksCommands } from './ticks-commands.ts'
import { addVersionsCommands } from './versions-commands.ts'

/** `jadwal schedules`: everything about schedules. */
export function addSchedulesCommands(shell: Shell, program: Command): void {
  const schedules = subcommand(
    program,
    'schedules',
    'Look at schedules, change them, and act on them',
  )
  addListCommand(shell, schedules)
  const show = subcommand(schedules, 'show', 'Show a schedule').argument('<schedule>')
  apiCommand(shell, show, async ({ api, output }, { args: [name = ''] }) => {
    const answer = await api.get(`/schedules/${encodeURIComponent(name)}`)
    output.either(answer, () => showSchedule(output, parseAnswer(ScheduleAnswer, answer)))
  })
  addTicksCommands(shell, schedules)
  addLoadCommand(shell, schedules)
  addFileCommands(shell, schedules)
  addEditCommands(shell, schedules)
  addActsCommands(shell, schedules)
  addBackfillCommand(shell, schedules)
  addVersionsCommands(shell, schedules)
}

interface ListOptions extends PagingOptions {
  job?: string
  source?: string
  label?: string[]
}

function addListCommand(shell: Shell, schedules: Command): void {
  const list = subcommand(schedules, 'list', 'List the schedules by name')
    .option('--job <name>')
    .option('--source <source>', 'file or api', oneOf('file', 'api'))
    .option('--label <name:value>', 'again for more; all must hold', label)
  apiCommand<ListOptions>(shell, addPaging(list), async (session, { options }) => {
    const { job, source } = options
    const query = { job, source, label: options.label }
    const columns = scheduleColumns(session.output)
    const empty = 'No such schedules.'
    await showList(
      session,
      { path: '/schedules', query, item: ScheduleAnswer, columns, empty },
      options,
    )
  }).addHelpText('after', '\nExample: jadwal schedules list --label team:billing')
}

function scheduleColumns({ times }: Output): Column<ScheduleAnswer>[] {
  return [
    { title: 'schedule', of: ({ name }) => name, isWhole: true },
    { title: 'state', of: stateOf, color: (schedule) => stateColor(stateOf(schedule)) },
    { title: 'cadence', of: cadenceText },
    { title: 'job', of: ({ job }) => job },
    { title: 'next tick', of: ({ nextTick }) => times.at(nextTick) },
    {
      title: 'in',
      of: ({ nextTick }) => times.relative(nextTick).replace(/^in /, ''),
      align: 'right',
    },
    { title: 'source', of: ({ source }) => source },
    { title: 'pause', of: ({ pause }) => (pause == null ? '' : pauseText(times, pause)) },
  ]
}
