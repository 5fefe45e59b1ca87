import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, parseAnswer, showList } from '../http/list.ts'
import { wholeNumber } from '../options/values.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'
import type { Column } from '../show/table.ts'
import { ScheduleAnswer } from './schedule-answer.ts'
import { SpecDiff } from './show-diff.ts'

const Version = z.looseObject({
  version: z.number(),
  author: z.string(),
  at: z.string(),
  until: z.string().nullish(),
  reason: z.string().nullish(),
  deleted: z.looseObject({ author: z.string(), reason: z.string().nullish() }).nullish(),
  diff: SpecDiff.nullish(),
})
type Version = z.infer<typeof Version>

interface RollbackOptions {
  to: number
  reason?: string
}

/** `jadwal schedules versions` and `rollback`. */
export function addVersionsCommands(shell: Shell, schedules: Command): void {
  const versions = subcommand(
    schedules,
    'versions',
    'List who changed a schedule, when and what',
  ).argument('<schedule>')
  apiCommand<PagingOptions>(
    shell,
    addPaging(versions),
    async (session, { args: [name = ''], options }) => {
      const { times } = session.output
      const columns: Column<Version>[] = [
        { title: 'version', of: ({ version }) => version, align: 'right' },
        { title: 'from', of: ({ at }) => times.at(at) },
        { title: 'until', of: ({ until }) => times.at(until) },
        { title: 'by', of: ({ author }) => author },
        { title: 'reason', of: ({ reason }) => reason },
        { title: 'changed', of: changedText },
      ]
      const path = `/schedules/${encodeURIComponent(name)}/versions`
      await showList(session, { path, item: Version, columns, empty: 'No versions.' }, options)
    },
  )
  const rollback = subcommand(schedules, 'rollback', 'Make a schedule again what a version said')
    .argument('<schedule>')
    .requiredOption('--to <version>', 'its number', wholeNumber(1, 2 ** 31 - 1))
    .option('--reason <text>')
  apiCommand<RollbackOptions>(
    shell,
    rollback,
    async ({ api, output }, { args: [name = ''], options }) => {
      const body = { version: options.to, reason: options.reason }
      const answer = await api.post(`/schedules/${encodeURIComponent(name)}/rollback`, body)
      const { version } = parseAnswer(ScheduleAnswer, answer)
      output.either(answer, () =>
        output.line(`${name} is what version ${options.to} said, as version ${version}`),
      )
    },
  ).addHelpText('after', '\nExample: jadwal schedules rollback monthly-report --to 3')
}

function changedText({ version, diff, deleted }: Version): string {
  const deletion = deleted == null ? '' : `deleted by ${deleted.author}`
  const fields = (diff ?? []).map(({ field }) => field).join(', ')
  return [fields || (version === 1 ? 'created' : ''), deletion]
    .filter((part) => part !== '')
    .join('; ')
}
