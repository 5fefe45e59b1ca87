import type { Command } from 'commander'
import { z } from 'zod'
import { addPaging, type PagingOptions, parseAnswer, showList } from '../http/list.ts'
import { confirm } from '../options/confirm.ts'
import { readTextFile, readYamlText } from '../options/yaml-text.ts'
import { valueText } from '../show/json-text.ts'
import { apiCommand, type Shell, subcommand } from '../session.ts'

const Calendar = z.looseObject({
  name: z.string(),
  source: z.string().nullish(),
  author: z.string().nullish(),
  changedAt: z.string().nullish(),
})

interface ChangeOptions {
  reason?: string
  yes: boolean
}

/** `jadwal calendars`: named lists of dates that schedules skip or keep to. */
export function addCalendarsCommands(shell: Shell, program: Command): void {
  const calendars = subcommand(program, 'calendars', 'Look at calendars and change them')
  const list = addPaging(subcommand(calendars, 'list', 'List the calendars by name'))
  apiCommand<PagingOptions>(shell, list, async (session, { options }) => {
    const { times } = session.output
    const columns = [
      { title: 'calendar', of: ({ name }: z.infer<typeof Calendar>) => name, isWhole: true },
      { title: 'source', of: ({ source }: z.infer<typeof Calendar>) => source },
      { title: 'by', of: ({ author }: z.infer<typeof Calendar>) => author },
      { title: 'changed', of: ({ changedAt }: z.infer<typeof Calendar>) => times.at(changedAt) },
    ]
    const empty = 'No calendars.'
    await showList(session, { path: '/calendars', item: Calendar, columns, empty }, options)
  })
  const show = subcommand(calendars, 'show', 'Show a calendar').argument('<calendar>')
  apiCommand(shell, show, async ({ api, output }, { args: [name = ''] }) => {
    const answer = await api.get(`/calendars/${encodeURIComponent(name)}`)
    const { changedAt, ...rest } = parseAnswer(Calendar, answer)
    const texts = Object.entries(rest).map(([key, value]) => [key, valueText(value)])
    output.either(answer, () =>
      output.fields({
        ...(Object.fromEntries(texts) as Record<string, string>),
        changed: output.times.full(changedAt),
      }),
    )
  })
  const set = subcommand(calendars, 'set', 'Create or replace a calendar')
    .argument('<calendar>')
    .argument('<file>', 'its fields as YAML or JSON; - reads standard input')
    .option('--reason <text>')
  apiCommand<ChangeOptions>(shell, set, async ({ api, output, terminal }, { args, options }) => {
    const [name = '', file = ''] = args
    const fields = await readYamlText(file, await readTextFile(terminal, file))
    const query = { reason: options.reason }
    const sent = { method: 'PUT' as const, query, body: fields }
    const answer = await api.send(`/calendars/${encodeURIComponent(name)}`, sent)
    output.either(answer.body, () =>
      output.line(`${name} is ${answer.status === 201 ? 'created' : 'set'}`),
    )
  })
  const remove = subcommand(calendars, 'delete', 'Delete a calendar that no schedule names')
    .argument('<calendar>')
    .option('--reason <text>')
    .option('--yes', 'without being asked', false)
  apiCommand<ChangeOptions>(shell, remove, async (session, { args: [name = ''], options }) => {
    const { api, output, terminal } = session
    await confirm(terminal, `This deletes the calendar ${name}.`, options)
    const query = { reason: options.reason }
    await api.send(`/calendars/${encodeURIComponent(name)}`, { method: 'DELETE', query })
    output.either({ name, deleted: true }, () => output.line(`${name} is deleted`))
  })
}
